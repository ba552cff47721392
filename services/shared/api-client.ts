export interface FieldError {
  readonly pointer: string;
  readonly detail: string;
}

/** A client of the REST API. The caller's token determines which requests are permitted. */
export class ApiProblem extends Error {
  readonly status: number;
  /** The stable error code, such as `not_found`. */
  readonly code: string;
  /** The errors of single fields, by JSON pointer. */
  readonly errors: readonly FieldError[];

  /** @param options contains the cause if there was no response */
  constructor(
    status: number,
    code: string,
    detail: string,
    options: ErrorOptions & { errors?: readonly FieldError[] } = {},
  ) {
    super(detail, options);
    this.name = 'ApiProblem';
    this.status = status;
    this.code = code;
    this.errors = options.errors ?? [];
  }
}

type QueryValue = string | number | boolean | undefined;

export interface ApiCall {
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** A body that is sent as JSON. */
  readonly body?: unknown;
  /** A body that is sent unchanged, instead of `body`. */
  readonly bytes?: Uint8Array | Blob;
  /** Whether the path starts at the root of the server and not at `/api/v1`. */
  readonly fromRoot?: boolean;
  readonly signal?: AbortSignal;
  /** The maximum time until the response is complete. Default: 90 s. */
  readonly deadlineMs?: number;
}

export interface ApiAnswer<Body> {
  readonly body: Body;
  readonly etag: string | undefined;
}

const answerDeadlineMs = 90_000;

export class Api {
  readonly #baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param baseUrl the URL of the backend, without a path
   *  @param token the token of the caller; without it, requests are not authenticated
   *  @param client the kind of client, such as `mcp`, if the backend must distinguish it */
  constructor(baseUrl: string, token: string | undefined, client?: string) {
    this.#baseUrl = baseUrl;
    this.#headers = {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(client !== undefined && { 'Orch-Client': client }),
    };
  }

  /** @param path below `/api/v1`, with encoded segments
   *  @throws ApiProblem for every error response, and if there is no response */
  async call<Body>(method: string, path: string, call: ApiCall = {}): Promise<ApiAnswer<Body>> {
    const answer = await this.#send(method, path, call);
    const text = await answer.text();
    const body = (text === '' ? undefined : JSON.parse(text)) as Body;
    return { body, etag: answer.headers.get('ETag') ?? undefined };
  }

  /** Returns the body as text. @throws ApiProblem */
  async text(path: string, call: ApiCall = {}): Promise<ApiAnswer<string>> {
    const answer = await this.#send('GET', path, call);
    return { body: await answer.text(), etag: answer.headers.get('ETag') ?? undefined };
  }

  /** The body as bytes. @throws ApiProblem */
  async bytes(path: string, call: ApiCall = {}): Promise<ApiAnswer<Uint8Array>> {
    const answer = await this.#send('GET', path, call);
    return { body: await answer.bytes(), etag: answer.headers.get('ETag') ?? undefined };
  }

  /** The raw response, with a body that may be streamed. @throws ApiProblem */
  raw(method: string, path: string, call: ApiCall = {}): Promise<Response> {
    return this.#send(method, path, call);
  }

  async #send(method: string, path: string, call: ApiCall): Promise<Response> {
    const { query = {}, headers, body, bytes, signal, deadlineMs = answerDeadlineMs } = call;
    const url = new URL(call.fromRoot === true ? path : `/api/v1${path}`, this.#baseUrl);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const deadline = AbortSignal.timeout(deadlineMs);
    const answer = await fetch(url, {
      method,
      headers: {
        ...this.#headers,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(bytes !== undefined && { 'Content-Type': 'application/octet-stream' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(bytes !== undefined && { body: bytes instanceof Blob ? bytes : Buffer.from(bytes) }),
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    }).catch((cause: unknown) => {
      if (signal?.aborted === true) throw cause;
      throw new ApiProblem(503, 'unavailable', 'The backend does not respond.', { cause });
    });
    if (!answer.ok) throw await problemOf(answer);
    return answer;
  }
}

interface ProblemBody {
  readonly code?: string;
  readonly detail?: string;
  readonly errors?: readonly FieldError[];
}

async function problemOf(answer: Response): Promise<ApiProblem> {
  const body = await answer.json().then(
    (json) => json as ProblemBody,
    (): ProblemBody => ({}),
  );
  const { code = 'unavailable', detail = `The backend returned ${answer.status}.` } = body;
  const errors = (body.errors ?? [])
    // Omits a field error if the detail of the problem already contains it.
    .filter((error) => error.detail !== detail)
    .map((error) => ` ${error.pointer || '/'}: ${error.detail}`);
  return new ApiProblem(answer.status, code, [detail, ...errors].join(''), {
    errors: body.errors ?? [],
  });
}

/** Encodes one segment of a path. */
export const part = encodeURIComponent;

/** Encodes a file path for a URL, but keeps its separators. */
export const fileParts = (path: string): string => path.split('/').map(part).join('/');
