/** Runs the services of compose.yaml in separate containers with a test's stores. Works like `docker compose up`, but
 *  without separate networks. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { chownSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withClient } from '../client.ts';
import { createEmptyDatabase } from '../database.ts';
import { freePorts } from '../free-ports.ts';
import { TestNatsServer } from '../nats-server.ts';
import { proxied } from '../proxied-database.ts';
import { startS3Server } from '../s3-server.ts';
import { composeContainer, healthCheck } from './compose.ts';
import type { ContainerEngine, Mount, Output, RunningContainer } from './engine.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const email = 'operator@example.com';
const user = 10001;
const healthTimeoutMs = 90_000;

/** Host names that services use for each other. */
const hosts = ['postgres', 'nats', 'objects', 'backend', 'mcp', 'grafana'];

type Stop = () => Promise<unknown>;

interface Stores {
  readonly adminUrl: string;
  readonly serviceUrl: string;
  readonly nats: TestNatsServer;
  readonly s3: Awaited<ReturnType<typeof startS3Server>>;
}

export class Deployment {
  /** The URL of the frontend. */
  readonly url: string;
  readonly redisPort: number;
  readonly #folder: string;
  readonly #ports: ReadonlyMap<number, number>;
  readonly #containers = new Map<string, RunningContainer>();
  readonly #stops: Stop[] = [];
  #token = '';

  private constructor(folder: string, front: number, ports: ReadonlyMap<number, number>) {
    this.#folder = folder;
    this.#ports = ports;
    this.url = `http://127.0.0.1:${front}`;
    this.redisPort = ports.get(6379) ?? 0;
  }

  /** Runs `setup`, starts the services and signs in through the frontend.
   *  @param environment variables for all services, in addition to compose.yaml
   *  @throws Error that contains the log of a container that exited at its start */
  static async start(
    engine: ContainerEngine,
    services: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<Deployment> {
    const folder = await mkdtemp(join(tmpdir(), 'deployment-'));
    const usual = [8080, 9091, 9092, 9093, 8010, 6379, 9094, 2019];
    const [front = 0, ...own] = await freePorts(usual.length + 1);
    const ports = new Map(usual.map((port, index) => [port, own[index] ?? 0]));
    const deployment = new Deployment(folder, front, ports);
    try {
      await deployment.#start(engine, services, environment);
    } catch (error) {
      await deployment.stop();
      throw error;
    }
    return deployment;
  }

  async #start(
    engine: ContainerEngine,
    services: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<void> {
    await promisify(execFile)(join(root, 'infra/deploy/make-secrets'), [this.#secrets]);
    const stores = await this.#startStores();
    await this.#addressStores(stores);
    const mounts = await this.#writeFiles();
    const containerOf = (name: string) =>
      composeContainer(name, {
        variables: { ORCH_SITE: this.url, ORCH_ADMIN_EMAIL: email },
        environment: { ...this.#environment(stores), ...environment },
        secrets: this.#secrets,
        volume: (path) => this.#volume(name, path),
        mounts: name === 'frontend' ? mounts : mounts.slice(0, 1),
      });
    const setup = await engine.start(containerOf('setup'));
    const code = await setup.exitCode;
    if (code !== 0) throw new Error(`setup ended with ${code}: ${setup.log}`);
    for (const name of services) this.#containers.set(name, await engine.start(containerOf(name)));
    await Promise.all(services.map((name) => this.untilHealthy(name)));
    const { access_token: token } = await this.call<{ access_token: string }>(
      'POST',
      '/auth/login',
      { email, password: await this.secret('admin_password') },
    );
    this.#token = token;
  }

  async #startStores(): Promise<Stores> {
    const database = await createEmptyDatabase();
    const name = `images_${randomBytes(4).toString('hex')}`;
    this.#stops.push(() => database.drop());
    this.#stops.push(() =>
      withClient(database.adminUrl, async (client) => {
        const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [name]);
        if (rowCount !== 0) await client.query(`DROP OWNED BY ${name}; DROP ROLE ${name}`);
      }),
    );
    const { proxy, url: adminUrl } = await proxied(database.adminUrl);
    this.#stops.push(() => proxy.close());
    const [mqtt = 0] = await freePorts(1);
    const nats = await TestNatsServer.start({
      configuration: [
        'server_name: orchestrator',
        `mqtt { listen: "127.0.0.1:${mqtt}" }`,
        await this.secret('nats_accounts'),
      ].join('\n'),
    });
    this.#stops.push(() => nats.stop());
    const s3 = await startS3Server();
    this.#stops.push(() => s3.stop());
    const password = await this.secret('service_password');
    const serviceUrl = adminUrl.replace(/\/\/[^@]*@/, `//${name}:${password}@`);
    return { adminUrl, serviceUrl, nats, s3 };
  }

  /** Writes the URLs of the test's stores to the secrets. */
  async #addressStores({ adminUrl, serviceUrl, nats, s3 }: Stores): Promise<void> {
    const named = (url: string) => url.replace('@127.0.0.1:', '@postgres:');
    const natsUrl = await this.secret('nats_url');
    const values = {
      database_admin_url: named(adminUrl),
      database_url: named(serviceUrl),
      nats_url: natsUrl.replace(':4222', `:${nats.port}`),
      s3_secret_access_key: s3.location.credentials?.secretAccessKey ?? '',
    };
    for (const [name, value] of Object.entries(values)) {
      await rm(join(this.#secrets, name));
      await writeFile(join(this.#secrets, name), value, { mode: 0o444 });
    }
  }

  #environment({ s3 }: Stores): Record<string, string> {
    const port = (usual: number) => String(this.#ports.get(usual));
    return {
      ORCH_BIND: '127.0.0.1',
      ORCH_HTTP_PORT: port(8080),
      ORCH_RUNTIME_HEALTH_PORT: port(9091),
      ORCH_SCHEDULER_HEALTH_PORT: port(9092),
      ORCH_RUNTIME_METRICS_PORT: port(9093),
      ORCH_MCP_PORT: port(8010),
      ORCH_REDIS_PORT: port(6379),
      ORCH_REDIS_HEALTH_PORT: port(9094),
      ORCH_PUBLIC_URL: this.url,
      ORCH_TRUSTED_PROXIES: '127.0.0.1/32',
      ORCH_BACKEND_URL: `http://backend:${port(8080)}`,
      ORCH_MCP_URL: `http://mcp:${port(8010)}`,
      ORCH_MCP_HOSTS: '127.0.0.1,mcp',
      ORCH_S3_ENDPOINT: (s3.location.endpoint ?? '').replace('127.0.0.1', 'objects'),
      ORCH_S3_ACCESS_KEY_ID: s3.location.credentials?.accessKeyId ?? '',
      // Makes the containers exit when the test ends.
      ORCH_SUPERVISED: 'true',
    };
  }

  /** Writes a hosts file with the names of the services, which a container engine's networks would resolve, and a Caddyfile with
   *  their ports. */
  async #writeFiles(): Promise<readonly Mount[]> {
    const names = join(this.#folder, 'hosts');
    await writeFile(names, `127.0.0.1 localhost ${hosts.join(' ')}\n`);
    const caddyfile = join(this.#folder, 'Caddyfile');
    const shipped = await readFile(join(root, 'infra/deploy/caddy/Caddyfile'), 'utf8');
    const configuration = shipped
      .replace('admin 127.0.0.1:2019', `admin 127.0.0.1:${this.#ports.get(2019)}`)
      .replace('port 8080', `port ${this.#ports.get(8080)}`)
      .replace('mcp:8010', `mcp:${this.#ports.get(8010)}`);
    await writeFile(caddyfile, configuration);
    await Promise.all([names, caddyfile].map((path) => chmod(path, 0o644)));
    return [
      { source: names, path: '/etc/hosts', writable: false },
      { source: caddyfile, path: '/etc/caddy/Caddyfile', writable: false },
    ];
  }

  #volume(service: string, path: string): string {
    const folder = join(this.#folder, `${service}${path.replaceAll('/', '-')}`);
    mkdirSync(folder, { mode: 0o700 });
    chownSync(folder, user, user);
    return folder;
  }

  get #secrets(): string {
    return join(this.#folder, 'secrets');
  }

  async secret(name: string): Promise<string> {
    return (await readFile(join(this.#secrets, name), 'utf8')).trim();
  }

  /** Waits until a service's health check in compose.yaml passes. */
  async untilHealthy(service: string): Promise<void> {
    const container = this.#containerOf(service);
    const check = healthCheck(service, this.#ports);
    const ended = container.exitCode.then((code) => {
      throw new Error(`${service} ended with ${code}: ${container.log}`);
    });
    ended.catch(() => undefined);
    const passes = until(`${service} is healthy`, async () => {
      const { code } = await container.exec(...check);
      return code === 0 ? true : undefined;
    }).catch((error: unknown) => {
      throw new Error(`${service}: ${container.log}`, { cause: error });
    });
    await Promise.race([passes, ended]);
  }

  async exec(service: string, ...command: readonly string[]): Promise<Output> {
    return await this.#containerOf(service).exec(...command);
  }

  /** Stops a service like `docker stop`. @returns its exit code */
  async end(service: string): Promise<number> {
    return await this.#containerOf(service).stop();
  }

  /** Sends a request to the REST API through the frontend. @throws Error if the status is not 2xx */
  async call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: {
        ...(this.#token !== '' && { authorization: `Bearer ${this.#token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as Answer;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#containers.values()].map((container) => container.stop()));
    for (const stop of this.#stops.toReversed()) await stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #containerOf(service: string): RunningContainer {
    const container = this.#containers.get(service);
    if (container === undefined) throw new Error(`${service} was not started`);
    return container;
  }
}

/** Polls until there is a result. @throws Error that names `what` after 90 s */
export async function until<Answer>(
  what: string,
  ask: () => Promise<Answer | undefined>,
): Promise<Answer> {
  const deadline = performance.now() + healthTimeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`timed out waiting until ${what}`);
    await pause(100);
  }
}
