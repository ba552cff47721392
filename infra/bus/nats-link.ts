/** A connection to NATS that reconnects automatically. */
import { connect, credsAuthenticator, errors, type NatsConnection } from '@nats-io/transport-node';

const connectTimeoutMs = 2_000;
const reconnectMs = 500;
/** A server that does not respond is disconnected after two missed pings. */
const pingEveryMs = 2_000;

export interface NatsOptions {
  /** `nats:` or `tls:` URLs of the servers in one cluster. The first URL that contains credentials (user and password,
   *  or a token) supplies them for all servers. */
  readonly servers: readonly URL[];
  /** The text of a credentials file, as an alternative to credentials in a URL. */
  readonly credentials: string | undefined;
  /** Called when the connection is lost, or when the reason for failed attempts changes. */
  readonly onProblem: (error: unknown, problem: string) => void;
  /** Called after a reconnect. */
  readonly onRecovery: () => void;
}

export class NatsLink {
  readonly #options: NatsOptions;
  readonly #whenConnected: ((connection: NatsConnection) => void)[] = [];
  #connection: NatsConnection | undefined;
  #problem: string | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  private constructor(options: NatsOptions) {
    this.#options = options;
  }

  /** Tries to connect once. If the attempt fails, retries in the background. */
  static async open(options: NatsOptions): Promise<NatsLink> {
    const link = new NatsLink(options);
    await link.#connect();
    return link;
  }

  /** The current connection; `undefined` while disconnected. */
  get connection(): NatsConnection | undefined {
    return this.#connection;
  }

  /** Why there is no connection, without addresses. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Calls `callback` for the current connection and for each later one. */
  onConnect(callback: (connection: NatsConnection) => void): void {
    this.#whenConnected.push(callback);
    if (this.#connection !== undefined) callback(this.#connection);
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    await this.#connection?.close();
  }

  async #connect(): Promise<void> {
    let connection: NatsConnection;
    try {
      connection = await connect(connectionOptions(this.#options));
    } catch (error) {
      this.#lost(error);
      return;
    }
    if (this.#closed) {
      await connection.close();
      return;
    }
    this.#connection = connection;
    void connection.closed().then((error) => this.#lost(error));
    if (this.#problem !== undefined) this.#options.onRecovery();
    this.#problem = undefined;
    for (const callback of this.#whenConnected) callback(connection);
  }

  #lost(error: unknown): void {
    this.#connection = undefined;
    if (this.#closed) return;
    const problem = problemOf(error);
    if (problem !== this.#problem) this.#options.onProblem(error, problem);
    this.#problem = problem;
    this.#retry = setTimeout(() => void this.#connect(), reconnectMs);
  }
}

function connectionOptions({ servers, credentials }: NatsOptions) {
  const named = servers.find(({ username }) => username !== '');
  const user = decodeURIComponent(named?.username ?? '');
  const pass = decodeURIComponent(named?.password ?? '');
  return {
    servers: servers.map(({ host }) => host),
    name: 'orchestrator',
    timeout: connectTimeoutMs,
    pingInterval: pingEveryMs,
    maxPingOut: 2,
    reconnect: false,
    ...(servers.some(({ protocol }) => protocol === 'tls:') && { tls: {} }),
    ...(user !== '' && (pass === '' ? { token: user } : { user, pass })),
    ...(credentials !== undefined && {
      authenticator: credsAuthenticator(new TextEncoder().encode(credentials)),
    }),
  };
}

function problemOf(error: unknown): string {
  if (error instanceof errors.AuthorizationError) return 'NATS rejected the credentials';
  if (error instanceof errors.UserAuthenticationExpiredError) {
    return 'the credentials for NATS have expired';
  }
  return 'NATS cannot be reached';
}
