/** The production edition's frontend for tests: Caddy with the released configuration. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { OptionalService } from '../../scripts/testing/optional-service.ts';
import { findProgram } from './find-program.ts';
import { freePorts } from './free-ports.ts';

const shipped = fileURLToPath(new URL('../deploy/caddy/Caddyfile', import.meta.url));
/** The part of the configuration that resolves the host name of the backend containers. */
const byName = /dynamic a \{[^}]*\}/;

export const caddyService: OptionalService = {
  service: 'Caddy',
  found: findProgram('caddy', []),
  reason: 'no caddy on this machine (Debian: apt-get install caddy)',
};

export interface TestFrontOptions {
  /** Backend addresses, such as `127.0.0.1:8080`. By default, there are none, because the host name does not
   *  resolve. */
  readonly backends?: readonly string[];
  /** Adapts the released configuration to the test. */
  readonly change?: (configuration: string) => string;
}

export class TestFront {
  readonly url: string;
  /** The output of Caddy. */
  readonly log: string[] = [];
  readonly #folder: string;
  #child: ChildProcessByStdio<null, null, Readable> | undefined;

  private constructor(url: string, folder: string) {
    this.url = url;
    this.#folder = folder;
  }

  /** @throws if `caddyService` was not found */
  static async start({ backends, change = (same) => same }: TestFrontOptions): Promise<TestFront> {
    const folder = await mkdtemp(join(tmpdir(), 'orch-caddy-'));
    const [port = 0] = await freePorts(1);
    const configuration = (await readFile(shipped, 'utf8'))
      .replace('admin 127.0.0.1:2019', 'admin off')
      .replace(byName, (found) => (backends === undefined ? found : `to ${backends.join(' ')}`));
    await writeFile(join(folder, 'Caddyfile'), change(configuration));
    const front = new TestFront(`http://127.0.0.1:${port}`, folder);
    await front.restart();
    return front;
  }

  /** Starts Caddy again. Resolves when Caddy accepts requests. */
  async restart(): Promise<void> {
    const folder = this.#folder;
    const started = spawn(
      caddyService.found ?? '',
      ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'],
      {
        env: {
          ...process.env,
          ORCH_SITE: this.url,
          XDG_DATA_HOME: folder,
          XDG_CONFIG_HOME: folder,
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    this.#child = started;
    const lines = createInterface({ input: started.stderr });
    const serves = new Promise<void>((resolve) => {
      lines.on('line', (line) => {
        this.log.push(line);
        if (line.includes('serving initial configuration')) resolve();
      });
    });
    await Promise.race([serves, once(lines, 'close')]);
  }

  /** Kills Caddy. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Stops Caddy. Its log is complete afterwards. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    const closed = once(child, 'close');
    child.kill(signal);
    await closed;
  }
}
