/** A client that retries a request at the other backend with the same idempotency key until it receives a response. */
import { setTimeout as wait } from 'node:timers/promises';
import { productPassword, until } from '#services/minimal/testing/product.ts';
import type { Journal } from '../journal.ts';
import { PersistentClient, Refused } from '../subject.ts';

export interface Backend {
  readonly name: string;
  /** The backend's URL without a path. */
  readonly url: string;
}

/** Longer than a backend takes to respond in any state of the database. */
const answerMs = 20_000;
/** Status codes that indicate a temporary failure. */
const temporary = [408, 425, 429];

export class CarefulClient extends PersistentClient {
  readonly #backends: readonly Backend[];
  readonly #journal: Journal;
  #token = '';
  #requests = 0;
  #replaced: Backend | undefined;

  constructor(backends: readonly Backend[], journal: Journal) {
    super();
    this.#backends = backends;
    this.#journal = journal;
  }

  async requestTextReliably(
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ): Promise<string> {
    return await until(`${method} ${path} is answered`, async () => {
      const backend = this.#next();
      const replaced = this.#replaced;
      const answer = await this.#ask(backend, method, path, body, key).catch(() => undefined);
      if (answer?.ok === true) return answer.text;
      if (answer?.status === 401) {
        await this.#signIn(backend);
        return undefined;
      }
      if (answer !== undefined && answer.status < 500 && !temporary.includes(answer.status))
        throw new Refused(`${method} ${path}: ${answer.status} ${answer.text}`);
      this.#noteRefusal(backend, [replaced, this.#replaced], `${method} ${path}`, answer?.status);
      await wait(50);
      return undefined;
    });
  }

  #next(): Backend {
    this.#requests += 1;
    const backend = this.#backends[this.#requests % this.#backends.length];
    if (backend === undefined) throw new Error('there is no backend');
    return backend;
  }

  /** Replaces a backend. If another backend fails to respond in the meantime, records the failure as `refused`. */
  async whileReplacing(backend: Backend, replace: () => Promise<void>): Promise<void> {
    this.#replaced = backend;
    try {
      await replace();
    } finally {
      this.#replaced = undefined;
    }
  }

  async #ask(
    { url }: Backend,
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ): Promise<{ readonly ok: boolean; readonly status: number; readonly text: string }> {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'Idempotency-Key': key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(answerMs),
    });
    return { ok: answer.ok, status: answer.status, text: await answer.text() };
  }

  async #signIn(backend: Backend): Promise<void> {
    const login = { email: 'admin@example.com', password: productPassword };
    const answer = await this.#ask(backend, 'POST', '/auth/login', login).catch(() => undefined);
    if (answer?.ok !== true) return;
    this.#token = (JSON.parse(answer.text) as { access_token: string }).access_token;
  }

  #noteRefusal(
    backend: Backend,
    beingReplaced: readonly (Backend | undefined)[],
    request: string,
    status: number | undefined,
  ): void {
    const replaced = beingReplaced.filter((each) => each !== undefined);
    if (replaced.length === 0 || replaced.includes(backend)) return;
    const entry = { backend: backend.name, request, status: status ?? null };
    this.#journal.note({ what: 'refused', ...entry });
  }
}
