/** An API client that checks each response against the description. */
import { expect } from 'vitest';
import { answerFault } from './described.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body. Reading it fails if the body is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- each test knows the shape
  readonly json: any;
}

export interface Options {
  readonly headers?: Readonly<Record<string, string>>;
}

export class TestClient {
  readonly origin: string;
  readonly token: string | undefined;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(origin: string, token?: string, headers: Readonly<Record<string, string>> = {}) {
    this.origin = origin;
    this.token = token;
    this.#headers = headers;
  }

  /** Returns another client that sends these headers with each request. */
  with(headers: Readonly<Record<string, string>>): TestClient {
    return new TestClient(this.origin, this.token, { ...this.#headers, ...headers });
  }

  /** Signs in. @returns a client with the token */
  async signIn(credentials: { email: string; password: string }): Promise<TestClient> {
    const answer = await this.post('/api/v1/auth/login', credentials);
    expect(answer.status, answer.text).toBe(200);
    const { access_token: token } = answer.json as { access_token: string };
    return new TestClient(this.origin, token, this.#headers);
  }

  get(path: string, options?: Options): Promise<Answer> {
    return this.send('GET', path, undefined, options);
  }

  post(path: string, body?: unknown, options?: Options): Promise<Answer> {
    return this.sendJson('POST', path, body, options);
  }

  patch(path: string, body: unknown, options?: Options): Promise<Answer> {
    return this.sendJson('PATCH', path, body, options);
  }

  put(path: string, body: unknown, options?: Options): Promise<Answer> {
    return this.sendJson('PUT', path, body, options);
  }

  delete(path: string, options?: Options): Promise<Answer> {
    return this.send('DELETE', path, undefined, options);
  }

  /** Sends bytes. */
  putBytes(path: string, bytes: Uint8Array | string, options: Options = {}): Promise<Answer> {
    const headers = { 'Content-Type': 'application/octet-stream', ...options.headers };
    return this.send('PUT', path, bytes, { headers });
  }

  sendJson(method: string, path: string, body: unknown, options: Options = {}): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
    return this.send(method, path, text, { headers: { ...type, ...options.headers } });
  }

  async send(
    method: string,
    path: string,
    body: string | Uint8Array | undefined,
    options: Options = {},
  ): Promise<Answer> {
    const response = await fetch(`${this.origin}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.token !== undefined && { Authorization: `Bearer ${this.token}` }),
        ...this.#headers,
        ...options.headers,
      },
      ...(body !== undefined && { body: body as string }),
    });
    const text = await response.text();
    const { status, headers } = response;
    const answer = {
      status,
      headers,
      text,
      get json() {
        return JSON.parse(text) as unknown;
      },
    };
    expect(
      answerFault(method, path, answer),
      `${method} ${path} → ${status} ${text}`,
    ).toBeUndefined();
    return answer;
  }
}

/** The statuses of several responses, in ascending order. */
export function statusesOf(answers: readonly Answer[]): readonly number[] {
  return answers.map((one) => one.status).toSorted((one, other) => one - other);
}
