/** Runs several replicas of each process on one database, as in production. Tests kill and restart these processes. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { S3Location } from '#infra/objects/s3-calls.ts';
import { freePorts } from '#infra/testing/free-ports.ts';
import {
  compileCache,
  mergedPrograms,
  preparePrograms,
  warmUp,
  type ProgramFiles,
} from '../programs/compiled.ts';
import { isHealthy } from '../health.ts';
import { createdOnce } from './product-data.ts';
import { productPassword, until } from './product.ts';

const kinds = ['backend', 'runtime', 'scheduler'] as const;

export type Kind = (typeof kinds)[number];

export interface FleetOptions {
  readonly databaseUrl: string;
  readonly replicas: Readonly<Record<Kind, number>>;
  /** Additional variables for all processes. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Additional variables for one process, such as `backend-1`. */
  readonly variablesOf?: (name: string) => Readonly<Record<string, string>>;
  /** Restarts processes that exit, as in `compose.yaml`. Default: false. */
  readonly restarts?: boolean;
}

const restartMs = 500;

/** Returns the settings for storing objects in a bucket. */
export function bucketVariables({ bucket, root, endpoint = '', credentials }: S3Location) {
  return {
    ORCH_OBJECTS_URL: `s3://${bucket}/${root.replace(/\/$/, '')}`,
    ORCH_S3_ENDPOINT: endpoint,
    ORCH_S3_ACCESS_KEY_ID: credentials?.accessKeyId ?? '',
    ORCH_S3_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? '',
  };
}

/** One member of the fleet, with a fixed port. After a restart, a new process takes over the port. */
export class Replica {
  readonly kind: Kind;
  readonly name: string;
  readonly url: string;
  readonly #program: string;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #restarts: boolean;
  #child: ChildProcess | undefined;
  #isEnding = false;

  constructor(
    kind: Kind,
    name: string,
    port: number,
    program: string,
    environment: Record<string, string>,
    restarts: boolean,
  ) {
    this.#program = program;
    this.#restarts = restarts;
    this.kind = kind;
    this.name = name;
    this.url = `http://127.0.0.1:${port}`;
    this.#environment = environment;
  }

  start(): void {
    const child = spawn(process.execPath, [this.#program], {
      env: this.#environment,
      // The process exits when this pipe closes, however the test ends.
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    child.stdin.on('error', () => undefined);
    this.#child = child;
    this.#isEnding = false;
    if (this.#restarts) child.once('exit', () => setTimeout(() => this.#replace(child), restartMs));
  }

  /** Replaces a process that has exited on its own. */
  #replace(child: ChildProcess): void {
    if (!this.#isEnding && this.#child === child) this.start();
  }

  async untilHealthy(): Promise<void> {
    await until(`${this.name} is healthy`, async () => {
      if (this.hasEnded && !this.#restarts) throw new Error(`${this.name} exited during startup`);
      return (await isHealthy(`${this.url}/health`)) ? true : undefined;
    });
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`${this.name} was not started`);
    return pid;
  }

  get hasEnded(): boolean {
    return this.#child?.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Sends a signal to the current process. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal);
  }

  /** Stops the process, and waits for it to exit. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    this.#isEnding = true;
    if (child === undefined || this.hasEnded) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}

export class Fleet {
  readonly folder: string;
  readonly replicas: readonly Replica[];
  #token = '';
  /** The server that `requestReliably` uses instead of the backends. */
  #door: Pick<Replica, 'url'> | undefined;

  private constructor(folder: string, replicas: readonly Replica[]) {
    this.folder = folder;
    this.replicas = replicas;
  }

  /** Starts all processes concurrently, and signs in. */
  static async start(options: FleetOptions): Promise<Fleet> {
    const folder = await mkdtemp(join(tmpdir(), 'fleet-'));
    const kinds = Object.entries(options.replicas) as [Kind, number][];
    const names = kinds.flatMap(([kind, count]) =>
      Array.from({ length: count }, (_, number) => ({ kind, name: `${kind}-${number + 1}` })),
    );
    const programs = await preparedPrograms();
    const ports = await freePorts(names.length * 2);
    const replicas = names.map(({ kind, name }) => {
      const [port = 0, metrics = 0] = ports.splice(0, 2);
      return new Replica(
        kind,
        name,
        port,
        programs.files.get(entryOf(kind)) ?? entryOf(kind),
        environmentOf(folder, kind, name, port, metrics, programs, options),
        options.restarts === true,
      );
    });
    const fleet = new Fleet(folder, replicas);
    for (const replica of replicas) replica.start();
    await fleet.untilHealthy();
    const { access_token } = await fleet.call<{ access_token: string }>('POST', '/auth/login', {
      email: 'admin@example.com',
      password: productPassword,
    });
    fleet.#token = access_token;
    return fleet;
  }

  async untilHealthy(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.untilHealthy()));
  }

  /** Makes `requestReliably` send later requests to this server. */
  goThrough(door: Pick<Replica, 'url'>): void {
    this.#door = door;
  }

  of(kind: Kind): readonly Replica[] {
    return this.replicas.filter((replica) => replica.kind === kind);
  }

  /** Sends one request to the REST API of a given backend. @throws if the response is not 2xx */
  async call<Answer>(
    method: string,
    path: string,
    body?: unknown,
    backend = this.of('backend')[0]!,
  ): Promise<Answer> {
    const answer = await this.fetch(backend, method, path, body);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as Answer;
  }

  fetch(
    { url }: Pick<Replica, 'url'>,
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
    signal?: AbortSignal,
  ): Promise<Response> {
    return fetch(`${url}${path.startsWith('/hooks') ? '' : '/api/v1'}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
  }

  /** Sends a request with one idempotency key until it gets a final response. Tries the backends in turn, or uses the
   *  server set with `goThrough`.
   *  @throws if the request is refused */
  async requestReliably<Answer>(
    path: string,
    body: unknown,
    key: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const backends = this.of('backend');
    for (let attempt = 0; ; attempt += 1) {
      const backend = this.#door ?? backends[attempt % backends.length]!;
      const answer = await this.fetch(backend, 'POST', path, body, {
        'idempotency-key': key,
        ...headers,
      }).catch(() => undefined);
      const text = await answer?.text().catch(() => undefined);
      if (answer !== undefined && text !== undefined && answer.status < 500) {
        if (answer.ok) return JSON.parse(text) as Answer;
        throw new Error(`POST ${path} is refused: ${answer.status} ${text}`);
      }
      if (attempt > 600) throw new Error(`no response to POST ${path}: ${answer?.status} ${text}`);
      await pause(50);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.end('SIGTERM')));
    await rm(this.folder, { recursive: true, force: true });
  }
}

interface Programs {
  readonly files: ProgramFiles;
  /** The folder with the compiled code. */
  readonly dataDir: string;
}

const entryOf = (kind: Kind) => fileURLToPath(new URL(`../../${kind}/main.ts`, import.meta.url));

/** Compiles the programs, because killed processes do not save their compiled code. Tests use merged programs, which
 *  start in a fifth of the time. Benchmarks use the same files as the production edition. */
async function preparedPrograms(): Promise<Programs> {
  const all = kinds.map((name) => ({ name, entry: entryOf(name) }));
  const merged = await createdOnce('fleet', async (folder) => {
    await preparePrograms(folder, all, all, (line) => console.log(line));
  });
  if (merged !== undefined) return { dataDir: merged, files: mergedPrograms(merged) };
  const dataDir = join(tmpdir(), 'fleet');
  await warmUp(
    dataDir,
    all.map(({ entry }) => entry),
  );
  return { dataDir, files: new Map() };
}

function environmentOf(
  folder: string,
  kind: Kind,
  name: string,
  port: number,
  metricsPort: number,
  { dataDir }: Programs,
  { databaseUrl, variables, variablesOf }: FleetOptions,
): Record<string, string> {
  const portOf = { backend: 'HTTP', runtime: 'RUNTIME_HEALTH', scheduler: 'SCHEDULER_HEALTH' };
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '/',
    ...compileCache(dataDir),
    ORCH_DATABASE_URL: databaseUrl,
    ORCH_DATA_DIR: folder,
    ORCH_WORK_DIR: join(folder, name),
    ORCH_RUNTIME_ID: name,
    [`ORCH_${portOf[kind]}_PORT`]: String(port),
    ORCH_RUNTIME_METRICS_PORT: String(metricsPort),
    SECRET_MASTER_KEY: keyOf('master'),
    ORCH_TOKEN_KEY: keyOf('token'),
    ORCH_AUDIT_KEY: keyOf('audit'),
    ORCH_ADMIN_PASSWORD: productPassword,
    ORCH_EXAMPLES: 'false',
    ORCH_SUPERVISED: 'true',
    ORCH_SHUTDOWN_DELAY_SECONDS: '0',
    ...variables,
    ...variablesOf?.(name),
  };
}

/** Returns a key that is the same in every process. */
const keyOf = (purpose: string) => createHash('sha256').update(purpose).digest('hex');
