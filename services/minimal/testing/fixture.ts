/** Runs a supervisor in a separate process, with small stub services. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '#infra/testing/free-ports.ts';

const file = (path: string): string =>
  JSON.stringify(fileURLToPath(new URL(`../../${path}`, import.meta.url)));

/** The program of a stub service. It is healthy while the database responds, and returns its environment on request. */
const program = (port: string, extra: string): string => `
  import pg from ${JSON.stringify(import.meta.resolve('pg'))};
  import { createServer } from 'node:http';
  import { readConfig } from ${file('shared/config.ts')};
  import { runProcess } from ${file('shared/lifecycle.ts')};
  import { listen } from ${file('shared/listen.ts')};
  await runProcess('fixture', async (signal, logger) => {
    ${extra}
    const config = readConfig(['${port}', 'bind', 'databaseUrl']);
    const server = createServer(async (request, response) => {
      if (request.url === '/environment') return response.end(JSON.stringify(process.env));
      const client = new pg.Client({ connectionString: config.databaseUrl });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await client.query('SELECT FROM events');
        response.writeHead(200).end();
      } catch (error) {
        response.writeHead(503).end(String(error));
      } finally {
        await client.end();
      }
    });
    await listen(server, config.${port}, config.bind);
    return { stop: async () => { server.close(); server.closeAllConnections(); } };
  }, { stopDeadlineMs: 60_000 });`;

const ports = ['httpPort', 'runtimeHealthPort', 'schedulerHealthPort'] as const;
const names = ['first', 'second', 'third'] as const;

export class Fixture {
  readonly folder = mkdtempSync(join(tmpdir(), 'orch-minimal-'));
  readonly dataDir = join(this.folder, 'data');
  /** Free ports for the two permanent services. */
  ports: readonly number[] = [];
  /** A free port for the third service, which starts at the first connection. */
  onDemandPort = 0;
  readonly #supervisors: Supervisor[] = [];

  async prepare(): Promise<void> {
    const free = await freePorts(ports.length);
    [this.ports, this.onDemandPort] = [free.slice(0, 2), free[2] ?? 0];
    // The database may run as another user, who must be able to reach its folder.
    chmodSync(this.folder, 0o711);
    writeFileSync(join(this.folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(this.folder, 'main.ts'), this.#main());
    this.write('first');
    this.write('second');
    this.write('third');
  }

  /** Writes a service's program.
   *  @param extra statements to run at its start */
  write(name: (typeof names)[number], extra = ''): void {
    const port = ports[names.indexOf(name)] ?? 'httpPort';
    writeFileSync(join(this.folder, `${name}.ts`), program(port, extra));
  }

  /** Copies the data of another fixture to save the time of a first start. */
  takeDataOf({ dataDir }: Fixture): void {
    // Keeps the owners of the files, because the database may run as another user.
    execFileSync('cp', ['-a', dataDir, this.dataDir]);
  }

  #main(): string {
    const services = names.map((name, index) => ({
      name,
      entry: join(this.folder, `${name}.ts`),
      ports: [ports[index]],
      secrets:
        name === 'first' ? ['ORCH_DATABASE_URL', 'ORCH_ADMIN_PASSWORD'] : ['ORCH_DATABASE_URL'],
      page: '/',
      ...(name === 'third' && { onDemand: true }),
      maxHeapMb: 64,
      youngHeapMb: 4,
    }));
    return `
      import { startSupervisor } from ${file('minimal/supervisor.ts')};
      import { runInTerminal } from ${file('minimal/terminal.ts')};
      const services = ${JSON.stringify(services)};
      const healthPolicy = { everyMs: 50, misses: 3 };
      await runInTerminal((say, signal) =>
        startSupervisor({ services, environment: process.env, say, healthPolicy,
          onEnd: (what) => say('Reported: ' + what) }, signal));
      process.exit(0);`;
  }

  start(variables: Readonly<Record<string, string>> = {}): Supervisor {
    const supervisor = new Supervisor(
      spawn(process.execPath, [join(this.folder, 'main.ts')], {
        cwd: this.folder,
        env: {
          PATH: process.env['PATH'],
          NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
          ORCH_DATA_DIR: this.dataDir,
          ORCH_HTTP_PORT: String(this.ports[0]),
          ORCH_RUNTIME_HEALTH_PORT: String(this.ports[1]),
          ORCH_SCHEDULER_HEALTH_PORT: String(this.onDemandPort),
          ...variables,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
    this.#supervisors.push(supervisor);
    return supervisor;
  }

  /** Returns the environment of a running service. */
  async environmentOf(name: (typeof names)[number]): Promise<Record<string, string>> {
    const answer = await fetch(`http://127.0.0.1:${this.ports[names.indexOf(name)]}/environment`);
    return (await answer.json()) as Record<string, string>;
  }

  async remove(): Promise<void> {
    for (const supervisor of this.#supervisors) await supervisor.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export class Supervisor {
  output = '';
  readonly #process: ChildProcess;
  readonly #ended: Promise<number | null>;
  readonly #listeners = new Set<() => void>();

  constructor(child: ChildProcess) {
    this.#process = child;
    this.#ended = once(child, 'close').then(([code]) => code as number | null);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
        for (const listener of this.#listeners) listener();
      });
    }
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Waits until the supervisor has printed the text this many times. */
  async says(text: string, times = 1): Promise<void> {
    const said = (): boolean => this.output.split(text).length > times;
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => void (said() && resolve());
    this.#listeners.add(look);
    look();
    await Promise.race([promise, this.#ended]);
    this.#listeners.delete(look);
    if (!said()) throw new Error(`it never said "${text}", but:\n${this.output}`);
  }

  /** Waits until the supervisor has exited.
   *  @returns its exit code */
  end(): Promise<number | null> {
    return this.#ended;
  }

  async stop(): Promise<number | null> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) this.kill('SIGTERM');
    return this.#ended;
  }

  /** Finds the supervisor's child processes whose command line contains the text. */
  children(text: string): readonly number[] {
    const list = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8');
    const pids = list.split(' ').filter(Boolean).map(Number);
    return pids.filter((pid) => commandOf(pid).includes(text));
  }
}

/** Returns the command line of a process. The result is empty if the process has exited. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
