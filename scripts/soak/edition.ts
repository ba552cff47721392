/** Controls the minimal edition under test: starts and stops it, and sends requests throughout every outage. */
import { setTimeout as wait } from 'node:timers/promises';
import {
  descendants,
  Product,
  until,
  type ServiceName,
} from '#services/minimal/testing/product.ts';
import { Refused, Subject } from './subject.ts';

/**
 * The timeout is long, because other programs can slow down the machine. The recovery time is measured but not limited.
 */
const timeoutMs = 10 * 60_000;

interface Problem {
  readonly detail?: string;
}

export class Edition extends Subject {
  #product: Product;
  readonly #variables: Readonly<Record<string, string>>;

  private constructor(product: Product, variables: Readonly<Record<string, string>>) {
    super();
    this.#product = product;
    this.#variables = variables;
  }

  static async start(
    dataDir: string,
    variables: Readonly<Record<string, string>>,
  ): Promise<Edition> {
    return new Edition(await Product.start({ dataDir, variables, timeoutMs }), variables);
  }

  async requestTextReliably(
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ): Promise<string> {
    const headers = key === undefined ? {} : { 'Idempotency-Key': key };
    const ask = async () => {
      try {
        const answer = await this.#product.fetch(method, path, body, headers);
        const text = await answer.text();
        if (answer.ok) return text;
        if (answer.status === 401) await this.#product.signIn();
        else if (answer.status < 500) throw new Refused(`${method} ${path}: ${text}`);
      } catch (error) {
        if (error instanceof Refused) throw error; // all other errors are caused by outages
      }
      await wait(50);
      return undefined;
    };
    return await until(`${method} ${path} is answered`, ask, timeoutMs);
  }

  async pidsOf(kind: ServiceName | 'postgres'): Promise<readonly number[]> {
    if (kind !== 'postgres') return [await this.#product.pidOf(kind)];
    const server = await this.#product.postgresPid();
    return [server, ...(await descendants(server))];
  }

  get dataDir(): string {
    return this.#product.dataDir;
  }

  /** Sends one read request.
   *  @returns the response body, which may be a problem document, or undefined if there is no JSON response */
  async ask<Answer>(path: string): Promise<(Partial<Answer> & Problem) | undefined> {
    try {
      const answer = await this.#product.fetch('GET', path);
      if (answer.status === 401) await this.#product.signIn();
      return (await answer.json()) as Partial<Answer> & Problem;
    } catch {
      return undefined; // the platform is unavailable
    }
  }

  /** Kills all processes at the same time, then starts the platform again.
   *  @param dataDir the data folder to start with. Default: the same folder */
  async killAll(dataDir?: string): Promise<void> {
    await this.endAll();
    await this.startOn(dataDir ?? this.dataDir);
  }

  /** Kills all processes at the same time. */
  async endAll(): Promise<void> {
    for (const pid of await this.#pids()) send(pid, 'SIGKILL');
  }

  async startOn(dataDir: string): Promise<void> {
    const options = { dataDir, variables: this.#variables, timeoutMs, signIn: false };
    this.#product = await Product.start(options);
    // Sign-in requests are repeated if the connection fails, like all other requests.
    const signIn = async () => {
      try {
        await this.#product.signIn();
        return true;
      } catch {
        return await wait(200, undefined);
      }
    };
    await until('the administrator is signed in', signIn, timeoutMs);
  }

  /** Suspends every process until it is killed, including processes that start in the meantime. */
  async freezeAll(): Promise<void> {
    const frozen = new Set<number>();
    for (let found = await this.#pids(); found.length > 0;) {
      for (const pid of found) {
        send(pid, 'SIGSTOP');
        frozen.add(pid);
      }
      found = (await this.#pids()).filter((pid) => !frozen.has(pid));
    }
  }

  async #pids(): Promise<readonly number[]> {
    const { pid } = this.#product;
    return [pid, ...(await descendants(pid))];
  }

  async untilHealthy(): Promise<void> {
    await this.#product.untilHealthy();
  }

  async stop(): Promise<void> {
    await this.#product.stop();
  }
}

/** The process may already have exited. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
