/** Uses the whole product as a user does: the processes of `make run`, over HTTP. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { embeddedAddresses } from '#infra/embedded/postgres.ts';
import { withClient } from '#infra/testing/client.ts';
import { freePorts } from '#infra/testing/free-ports.ts';
import { bcryptPasswords } from '#services/shared/passwords.ts';
import WebSocket from 'ws';
import { copyProductData } from './product-data.ts';

const ownFolder = fileURLToPath(new URL('../../..', import.meta.url));
export const productPassword = 'correct horse battery';
const startDeadlineMs = 120_000;

/** Processes of all products that are still running. */
const running = new Set<ChildProcess>();
// vitest sends this signal to end a test file, and then waits until all processes that write to its output have exited.
process.once('SIGTERM', () => {
  for (const each of running) each.kill('SIGINT');
  process.kill(process.pid, 'SIGTERM');
});

export interface LogLine {
  readonly seq: number;
  readonly time: string;
  readonly stream: 'stdout' | 'stderr' | 'system';
  readonly text: string;
}

export interface RunAnswer {
  readonly run_id: string;
  readonly status: string;
  readonly failure_reason: string | null;
  readonly exit_code: number | null;
  readonly duration_ms: number | null;
  readonly log_lines: number;
}

export type ServiceName = 'backend' | 'runtime' | 'redis';

export interface ProductOptions {
  /** The data folder. Default: a new temporary folder. */
  readonly dataDir?: string;
  /** Whether to sign in. Default: true. */
  readonly signIn?: boolean;
  /** The value `undefined` removes a variable, even one with a default. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** The folder of the release. Default: this repository. */
  readonly folder?: string;
  /** How long the product may take to become healthy. Default: two minutes. */
  readonly timeoutMs?: number;
}

interface ProductPorts {
  readonly http: number;
  readonly metrics: number;
  readonly mcp: number;
}

export class Product {
  readonly baseUrl: string;
  /** The endpoint of the MCP server. */
  readonly mcpUrl: string;
  /** The URL of the runtime's metrics. */
  readonly metricsUrl: string;
  readonly dataDir: string;
  readonly #process: ChildProcess;
  #token = '';

  private constructor(process: ChildProcess, ports: ProductPorts, dataDir: string) {
    this.#process = process;
    this.baseUrl = `http://127.0.0.1:${ports.http}`;
    this.mcpUrl = `http://127.0.0.1:${ports.mcp}/mcp`;
    this.metricsUrl = `http://127.0.0.1:${ports.metrics}/metrics`;
    this.dataDir = dataDir;
  }

  /** Starts the minimal edition on free ports and signs in as its administrator. */
  static async start(options: ProductOptions = {}): Promise<Product> {
    const dataDir = options.dataDir ?? (await newDataDir());
    const [http = 0, metrics = 0, mcp = 0, runtimeHealth, schedulerHealth, redisHealth, redis] =
      await freePorts(7);
    const entry = join(options.folder ?? ownFolder, 'services/minimal/main.ts');
    const process = spawn(globalThis.process.execPath, [entry], {
      env: {
        ...globalThis.process.env,
        ORCH_DATA_DIR: dataDir,
        ORCH_HTTP_PORT: String(http),
        ORCH_RUNTIME_HEALTH_PORT: String(runtimeHealth),
        ORCH_SCHEDULER_HEALTH_PORT: String(schedulerHealth),
        ORCH_RUNTIME_METRICS_PORT: String(metrics),
        ORCH_REDIS_HEALTH_PORT: String(redisHealth),
        ORCH_REDIS_PORT: String(redis),
        ORCH_MCP_PORT: String(mcp),
        ORCH_ADMIN_PASSWORD: productPassword,
        ORCH_EXAMPLES: 'false',
        // The product has its own cache of compiled code.
        NODE_COMPILE_CACHE: undefined,
        ...options.variables,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    process.stdout?.resume();
    running.add(process);
    process.once('exit', () => running.delete(process));
    const product = new Product(process, { http, metrics, mcp }, dataDir);
    try {
      await product.untilHealthy(options.timeoutMs);
      if (options.signIn !== false) await product.signIn();
    } catch (error) {
      // The caller has no reference to the product, and cannot stop it.
      await product.stop();
      throw error;
    }
    return product;
  }

  /** The headers of a signed-in client. */
  get authorization(): { readonly authorization: string } {
    return { authorization: `Bearer ${this.#token}` };
  }

  get pid(): number {
    const { pid } = this.#process;
    if (pid === undefined) throw new Error('the product did not start');
    return pid;
  }

  /** Polls `/health` until the product is healthy. */
  async untilHealthy(timeoutMs?: number): Promise<void> {
    const ask = async () => {
      if (this.#process.exitCode !== null) throw new Error('the product exited during startup');
      const answer = await fetch(`${this.baseUrl}/health`).catch(() => undefined);
      return answer?.ok === true ? true : undefined;
    };
    await until('the product is healthy', ask, timeoutMs);
  }

  async signIn(): Promise<void> {
    const answer = await this.call<{ access_token: string }>('POST', '/auth/login', {
      email: 'admin@example.com',
      password: productPassword,
    });
    this.#token = answer.access_token;
  }

  /** Sends one request to the REST API. @throws if the response is not 2xx */
  async call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await this.fetch(method, path, body);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as Answer;
  }

  /** Sends one request to the REST API. @returns the raw response */
  fetch(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return fetch(`${this.baseUrl}/api/v1${path}`, {
      method,
      headers: {
        ...this.authorization,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  /** Creates a script with these files. @returns its ID */
  async script(
    name: string,
    files: Readonly<Record<string, string>>,
    settings: object = {},
  ): Promise<string> {
    const { id } = await this.call<{ id: string }>('POST', '/scripts', { name, ...settings });
    for (const [path, content] of Object.entries(files)) {
      await this.call('PUT', `/scripts/${id}/files/${path}`, { content, encoding: 'utf-8' });
    }
    return id;
  }

  async run(scriptId: string, body: object = {}): Promise<RunAnswer> {
    return await this.call<RunAnswer>('POST', `/runs/scripts/${scriptId}/run`, body);
  }

  async runState(runId: string): Promise<RunAnswer> {
    return await this.call<RunAnswer>('GET', `/runs/${runId}`);
  }

  /** Waits until the run has finished. Tolerates outages of the product. */
  async untilFinished(runId: string): Promise<RunAnswer> {
    return await until('the run is finished', async () => {
      const run = await this.runState(runId).catch(() => undefined);
      return run !== undefined && !['queued', 'running'].includes(run.status) ? run : undefined;
    });
  }

  /** Returns the whole stored log. */
  async log(runId: string): Promise<readonly LogLine[]> {
    const lines: LogLine[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { items: LogLine[]; next_cursor: string | null } = await this.call(
        'GET',
        `/runs/${runId}/logs?limit=200${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      lines.push(...page.items);
      cursor = page.next_cursor;
    }
    return lines;
  }

  /** Follows the live log. */
  follow(runId: string, fromSeq = 1): WebSocket {
    const url = `${this.baseUrl.replace('http', 'ws')}/ws/runs/${runId}?from_seq=${fromSeq}`;
    return new WebSocket(url, ['orch.v1', `orch.bearer.${this.#token}`]);
  }

  /** Returns the process ID of a supervised service. The backend's process also runs the scheduler. */
  async pidOf(service: ServiceName): Promise<number> {
    const program = new RegExp(`/${service}/main\\.ts|programs/${service}\\.mjs`);
    return await until(`the ${service} runs`, () =>
      this.#child((command) => program.test(command)),
    );
  }

  /** Returns the process ID of PostgreSQL. */
  async postgresPid(): Promise<number> {
    return await until('Postgres runs', () =>
      this.#child((command) => /bin\/postgres\b/.test(command)),
    );
  }

  async #child(matches: (command: string) => boolean): Promise<number | undefined> {
    for (const pid of await descendants(this.pid)) {
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      if (matches(command.replaceAll('\0', ' '))) return pid;
    }
    return undefined;
  }

  /** Stops the product as Ctrl-C does. @returns the IDs of processes that are still running */
  async stop(): Promise<readonly number[]> {
    const before = await descendants(this.pid);
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, 'exit');
      this.#process.kill('SIGINT');
      await ended;
    }
    return before.filter(isAlive);
  }

  /** Removes the product's data. Stop the product first. */
  async remove(): Promise<void> {
    await rm(this.dataDir, { recursive: true, force: true });
  }
}

async function newDataDir(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'orchestrator-'));
  await copyProductData(dataDir, async (empty) => {
    const first = await Product.start({ dataDir: empty, signIn: false });
    await hashCheaply(empty);
    await first.stop();
  });
  return dataDir;
}

/** Replaces the hash of the administrator's password with one that takes a millisecond to verify, because every test
 *  signs in. */
async function hashCheaply(dataDir: string): Promise<void> {
  const hash = await bcryptPasswords(4).hash(productPassword);
  const { adminUrl = '' } = embeddedAddresses(join(dataDir, 'postgres')) ?? {};
  await withClient(adminUrl, (client) =>
    client.query('UPDATE credentials SET password_hash = $1', [hash]),
  );
}

/** Polls until there is a result. @throws Error that names `what`, after `timeoutMs` */
export async function until<Answer>(
  what: string,
  ask: () => Promise<Answer | undefined>,
  timeoutMs = startDeadlineMs,
): Promise<Answer> {
  const startedMs = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    const waitedMs = performance.now() - startedMs;
    if (waitedMs > timeoutMs) throw new Error(`timed out waiting until ${what}`);
    // Increases the polling interval with the elapsed time to limit the cost of long waits.
    await pause(Math.min(25 + waitedMs / 20, 250));
  }
}

/** Returns all descendants of the process `pid`, nearest first. */
export async function descendants(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const children = text.split(' ').filter(Boolean).map(Number);
  const below = await Promise.all(children.map(descendants));
  return [...children, ...below.flat()];
}

/** Whether a process is running. A zombie process is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
