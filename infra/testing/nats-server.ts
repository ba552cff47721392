/** A real NATS server with JetStream for tests. Tests can kill, clear and restart the server. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { OptionalService } from '../../scripts/testing/optional-service.ts';
import { findProgram } from './find-program.ts';
import { freePorts } from './free-ports.ts';

const startTimeoutMs = 20_000;

/** Debian installs nats-server in /usr/sbin, which may not be on the PATH. */
export const natsService: OptionalService = {
  service: 'NATS server',
  found: findProgram('nats-server', ['/usr/sbin']),
  reason: 'nats-server is not installed (Debian: apt-get install nats-server)',
};

export interface TestNatsOptions {
  /** Additional configuration lines. */
  readonly configuration?: string;
  /** Default: true. */
  readonly jetstream?: boolean;
}

export class TestNatsServer {
  readonly port: number;
  readonly #folder: string;
  #child: ChildProcess | undefined;

  private constructor(port: number, folder: string) {
    this.port = port;
    this.#folder = folder;
  }

  /** Starts a server on a free port. @throws Error if `natsService` was not found */
  static async start(options: TestNatsOptions = {}): Promise<TestNatsServer> {
    const [port = 0] = await freePorts(1);
    const server = new TestNatsServer(port, await mkdtemp(join(tmpdir(), 'nats-')));
    const storage =
      options.jetstream === false ? '' : `jetstream { store_dir: "${server.#store}" }`;
    const lines = [`listen: "127.0.0.1:${port}"`, storage, options.configuration ?? ''];
    await writeFile(join(server.#folder, 'nats.conf'), lines.join('\n'));
    await server.restart();
    return server;
  }

  get #store(): string {
    return join(this.#folder, 'store');
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Starts the server again after `kill`. Resolves when the server accepts connections. */
  async restart(): Promise<void> {
    const args = ['--config', join(this.#folder, 'nats.conf')];
    const child = spawn(natsService.found ?? '', args, { stdio: 'ignore' });
    const kill = (): boolean => child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    this.#child = child;
    const deadline = performance.now() + startTimeoutMs;
    while (!(await accepts(this.port))) {
      if (child.exitCode !== null || performance.now() > deadline) {
        throw new Error('the NATS server did not start');
      }
      await delay(10);
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Kills the server, as a crash would. Idempotent. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Deletes the server's data. Call only while the server is down. */
  async wipe(): Promise<void> {
    await rm(this.#store, { recursive: true, force: true });
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
