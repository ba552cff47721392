import { buffer, text } from 'node:stream/consumers';
import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { sendRequest } from './http-request.ts';

export interface FieldError {
  readonly pointer: string;
  readonly detail: string;
}

/** An error from the REST API, or the lack of a response. */
export class ApiProblem extends Error {
  readonly status: number;
  /** The stable error code, such as `not_found`. */
  readonly code: string;
  /** The errors of individual fields, by JSON pointer. */
  readonly errors: readonly FieldError[];
  /** Whether the server may have performed a change, because only its response is missing. */
  readonly mayBeDone: boolean;

  /** @param options contains the cause if there was no response */
  constructor(
    status: number,
    code: string,
    detail: string,
    options: ErrorOptions & { errors?: readonly FieldError[]; mayBeDone?: boolean } = {},
  ) {
    super(detail, options);
    this.name = 'ApiProblem';
    this.status = status;
    this.code = code;
    this.errors = options.errors ?? [];
    this.mayBeDone = options.mayBeDone ?? false;
  }
}

type QueryValue = string | number | boolean | undefined;

export interface ApiCall {
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body to send as JSON. */
  readonly body?: unknown;
  /** The body to send unchanged, as an alternative to `body`. */
  readonly bytes?: Uint8Array | Blob;
  /** Whether the path is relative to the server's root instead of `/api/v1`. */
  readonly fromRoot?: boolean;
  readonly signal?: AbortSignal;
  /** Whether to send an `Idempotency-Key` and to repeat the request if there is no response. The operation must accept
   *  the key. */
  readonly idempotent?: boolean;
  /** The time limit for the complete response. Default: 90 s. */
  readonly deadlineMs?: number;
}

export interface ApiAnswer<Body> {
  readonly body: Body;
  readonly etag: string | undefined;
}

const answerDeadlineMs = 90_000;
const maxAttempts = 5;
const retryMs = 500;
/** Without a response of the platform, the backend is unavailable, or a proxy did not receive its response. */
const unavailableStatuses: readonly number[] = [502, 503, 504];
/** Errors of other servers that would be mistaken for errors of the platform. */
const foreignStatuses: readonly number[] = [401, 403, 404, 405];

export class Api {
  readonly #baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #signal: AbortSignal | undefined;

  /** @param baseUrl the URL of the backend, without a path
   *  @param token the caller's token; without a token, requests are unauthenticated
   *  @param client the kind of client, such as `mcp`, if the backend treats it differently
   *  @param signal ends all requests */
  constructor(
    baseUrl: string,
    token: string | undefined,
    { client, signal }: { readonly client?: string; readonly signal?: AbortSignal } = {},
  ) {
    this.#baseUrl = baseUrl;
    this.#signal = signal;
    this.#headers = {
      'User-Agent': 'orchestrator',
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(client !== undefined && { 'Orch-Client': client }),
    };
  }

  /** @param path the path below `/api/v1`, with encoded segments
   *  @throws ApiProblem for an error response or if there is no response */
  async call<Body>(method: string, path: string, call: ApiCall = {}): Promise<ApiAnswer<Body>> {
    return await this.#repeated(call, async (keyed) => {
      const answer = await this.#send(method, path, keyed);
      const body = (await this.json(method, answer, keyed)) as Body;
      return { body, etag: answer.headers.etag };
    });
  }

  /** Returns the body as text. @throws ApiProblem */
  async text(path: string, call: ApiCall = {}): Promise<ApiAnswer<string>> {
    const answer = await this.#send('GET', path, call);
    return { body: await this.#whole('GET', text(answer), call), etag: answer.headers.etag };
  }

  /** Returns the body as bytes. @throws ApiProblem */
  async bytes(path: string, call: ApiCall = {}): Promise<ApiAnswer<Uint8Array>> {
    const answer = await this.#send('GET', path, call);
    return { body: await this.#whole('GET', buffer(answer), call), etag: answer.headers.etag };
  }

  /** Returns the raw response, whose body can be streamed. The caller must read or destroy it.
   *  @throws ApiProblem */
  raw(method: string, path: string, call: ApiCall = {}): Promise<IncomingMessage> {
    return this.#repeated(call, (keyed) => this.#send(method, path, keyed));
  }

  /** Reads the JSON of a raw response. @throws ApiProblem */
  async json(method: string, answer: IncomingMessage, call: ApiCall = {}): Promise<unknown> {
    const json = await this.#whole(method, text(answer), call);
    try {
      return json === '' ? undefined : JSON.parse(json);
    } catch {
      throw foreignProblem(this.#baseUrl);
    }
  }

  /** Repeats an idempotent request with the same key, so that the server performs it once. */
  async #repeated<Result>(
    call: ApiCall,
    send: (keyed: ApiCall) => Promise<Result>,
  ): Promise<Result> {
    if (call.idempotent !== true) return await send(call);
    const keyed = { ...call, headers: { 'Idempotency-Key': crypto.randomUUID(), ...call.headers } };
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await send(keyed);
      } catch (error) {
        const isAway =
          error instanceof ApiProblem &&
          error.code === 'unavailable' &&
          unavailableStatuses.includes(error.status);
        if (!isAway || attempt === maxAttempts) throw error;
        await pause(retryMs * attempt, undefined, this.#signal && { signal: this.#signal });
      }
    }
  }

  /** Reads a body. @throws ApiProblem if the connection breaks */
  async #whole<Body>(method: string, reading: Promise<Body>, { signal }: ApiCall): Promise<Body> {
    return await reading.catch((cause: unknown) => this.#broken(cause, signal, isChange(method)));
  }

  #broken(cause: unknown, signal: AbortSignal | undefined, mayBeDone: boolean): never {
    if (signal?.aborted === true || this.#signal?.aborted === true) throw cause;
    const detail = 'The backend does not respond.';
    throw new ApiProblem(503, 'unavailable', detail, { cause, mayBeDone });
  }

  async #send(method: string, path: string, call: ApiCall): Promise<IncomingMessage> {
    const { query = {}, headers, body, bytes, signal, deadlineMs = answerDeadlineMs } = call;
    const url = new URL(call.fromRoot === true ? path : `/api/v1${path}`, this.#baseUrl);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const deadline = AbortSignal.timeout(deadlineMs);
    let isSent = false;
    const answer = await sendRequest(url, {
      method,
      headers: {
        ...this.#headers,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(bytes !== undefined && { 'Content-Type': 'application/octet-stream' }),
        ...headers,
      },
      body: bytes ?? (body === undefined ? undefined : JSON.stringify(body)),
      signal: AbortSignal.any([signal, this.#signal, deadline].filter((one) => one !== undefined)),
      onSent: () => (isSent = true),
    }).catch((cause: unknown) => this.#broken(cause, signal, isSent && isChange(method)));
    const { statusCode = 0 } = answer;
    const problem = isOfPlatform(answer) ? undefined : problemOfOther(url, answer);
    if (problem !== undefined) {
      answer.destroy();
      throw problem;
    }
    if (statusCode < 200 || statusCode > 299) throw await problemOf(answer, method);
    return answer;
  }
}

interface ProblemBody {
  readonly code?: string;
  readonly detail?: string;
  readonly errors?: readonly FieldError[];
}

const isChange = (method: string): boolean => method !== 'GET';

const foreignProblem = (url: string): ApiProblem =>
  new ApiProblem(503, 'foreign_server', foreignServer(url));

/** @returns `undefined` if the response may be the error of a proxy in front of the platform */
function problemOfOther(url: URL, answer: IncomingMessage): ApiProblem | undefined {
  const { statusCode: status = 0, headers } = answer;
  const { location } = headers;
  if (status >= 300 && status <= 399 && location !== undefined) {
    return new ApiProblem(status, 'redirect', redirectText(url, URL.parse(location, url.href)));
  }
  const isSuccess = status >= 200 && status <= 299;
  return isSuccess || foreignStatuses.includes(status) ? foreignProblem(url.origin) : undefined;
}

function redirectText({ origin, pathname }: URL, target: URL | null): string {
  return target === null || target.origin === origin
    ? `${origin} redirects ${pathname} to ${target?.pathname ?? 'an invalid URL'}. Check the redirects of its reverse proxy.`
    : `${origin} redirects to ${target.origin}. Use that address: orchestrator login ${target.origin}`;
}

async function problemOf(answer: IncomingMessage, method: string): Promise<ApiProblem> {
  const { statusCode: status = 0, headers } = answer;
  const body = await text(answer)
    .then((json) => JSON.parse(json) as ProblemBody)
    .catch((): ProblemBody => ({}));
  const redirect = headers.location === undefined ? '' : ` with a redirect to ${headers.location}`;
  const { code = 'unavailable', detail = `The backend returned ${status}${redirect}.` } = body;
  const errors = (body.errors ?? [])
    // Omits a field error that the problem's detail already contains.
    .filter((error) => error.detail !== detail)
    .map((error) => ` ${error.pointer || '/'}: ${error.detail}`);
  return new ApiProblem(status, code, [detail, ...errors].join(''), {
    errors: body.errors ?? [],
    mayBeDone: isChange(method) && [502, 504].includes(status),
  });
}

/** Whether a response is from this platform: the backend sends the ID of the trace with every response. */
export const isOfPlatform = ({ headers }: IncomingMessage): boolean => 'x-request-id' in headers;

/** The message about a server that is not this platform. */
export const foreignServer = (url: string): string =>
  `${url} did not answer like this platform. Check the address.`;

/** Encodes a path segment. */
export const part = encodeURIComponent;

/** Encodes a file path for a URL and keeps the slashes. */
export const fileParts = (path: string): string => path.split('/').map(part).join('/');
