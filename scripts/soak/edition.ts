/** The minimal edition under test: what is done to it, and how it is asked, through every outage. */
import { execFileSync } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import {
  descendants,
  Product,
  until,
  type ServiceName,
} from '#services/minimal/testing/product.ts';
import type { Subject } from './subject.ts';

/** The platform is there, and does not do what it is asked for. */
class Refused extends Error {}

export class Edition implements Subject {
  #product: Product;
  readonly #variables: Readonly<Record<string, string>>;

  private constructor(product: Product, variables: Readonly<Record<string, string>>) {
    this.#product = product;
    this.#variables = variables;
  }

  static async start(
    dataDir: string,
    variables: Readonly<Record<string, string>>,
  ): Promise<Edition> {
    return new Edition(await Product.start({ dataDir, variables }), variables);
  }

  /** One call, again and again until it is answered. @param key makes repetitions one request
   *  @throws Error when the platform refuses it */
  async insist<Answer>(
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ): Promise<Answer> {
    return JSON.parse(await this.insistText(method, path, body, key)) as Answer;
  }

  /** The same, where the answer is no JSON. */
  async insistText(method: string, path: string, body?: unknown, key?: string): Promise<string> {
    const headers = key === undefined ? {} : { 'Idempotency-Key': key };
    return await until(`${method} ${path} is answered`, async () => {
      try {
        const answer = await this.#product.fetch(method, path, body, headers);
        const text = await answer.text();
        if (answer.ok) return text;
        if (answer.status === 401) await this.#product.signIn();
        else if (answer.status < 500) throw new Refused(`${method} ${path}: ${text}`);
      } catch (error) {
        if (error instanceof Refused) throw error; // the others are outages
      }
      await wait(50);
      return undefined;
    });
  }

  async pidsOf(kind: ServiceName | 'postgres'): Promise<readonly number[]> {
    if (kind !== 'postgres') return [await this.#product.pidOf(kind)];
    const server = await this.#product.postgresPid();
    return [server, ...(await descendants(server))];
  }

  /** Kills every process at once, and starts again on the same data. */
  async killAll(): Promise<void> {
    const { pid, dataDir } = this.#product;
    const pids = [pid, ...(await descendants(pid))];
    for (const one of pids) send(one, 'SIGKILL');
    this.#product = await Product.start({ dataDir, variables: this.#variables });
  }

  async untilHealthy(): Promise<void> {
    await this.#product.untilHealthy();
  }

  async stop(): Promise<void> {
    await this.#product.stop();
  }
}

/** A process may have ended by itself. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A file system of its own, in memory, for the data. @returns the way to take it away; undefined where this user
 *  may not mount one */
export function mountSmall(folder: string, megabytes: number): (() => void) | undefined {
  try {
    const options = `size=${megabytes}m,mode=0755`;
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  return () => execFileSync('umount', [folder]);
}
