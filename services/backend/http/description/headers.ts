/** The headers of the API, as the description shows them. */
import { keyPattern } from '../idempotency.ts';
import { positionPattern } from '../min-position.ts';
import type { RequestHeader, ResponseHeader } from '../operation.ts';

type Json = Record<string, unknown>;

interface RequestHeaderRule {
  readonly description: string;
  /** What its value has to match; absent where any text is understood. */
  readonly pattern?: RegExp;
}

const requestHeaders: Readonly<Record<RequestHeader, RequestHeaderRule>> = {
  'If-Match': { description: 'The `ETag` that you saw: 412 when it has changed since.' },
  'If-None-Match': { description: 'The `ETag` that you have: 304 when it is still that.' },
  Prefer: {
    description: '`wait=30` answers when the run has ended, or after so many seconds (at most 60).',
  },
  'Orch-Min-Position': {
    description: 'Waits until what a write answered with as `Orch-Position` can be seen.',
    pattern: positionPattern,
  },
  'Orch-Client': { description: '`mcp` when a language model asks: the run has that trigger.' },
  'Orch-Session-Key': { description: 'The `session_key` of the sign-in.' },
  'Idempotency-Key': {
    description: 'The same key and body within 24 h give the first answer again.',
    pattern: keyPattern,
  },
};

const responseHeaders: Readonly<Record<ResponseHeader | 'X-Request-Id', string>> = {
  ETag: 'Version of what is shown.',
  Location: 'Where it is.',
  Link: 'The next page: `rel="next"`.',
  'Orch-Position': 'Position of the last event that it made.',
  'Set-Cookie': 'The refresh token, for browsers.',
  'Content-Disposition': 'Always an attachment.',
  'Idempotency-Replayed': '`true` where this is the first answer again.',
  'Preference-Applied': 'What of `Prefer` was done.',
  'X-Request-Id': 'Id of the trace that the request belongs to.',
};

/** Headers of every answer with the status, whichever operation gave it. */
const statusHeaders: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  304: { ETag: responseHeaders.ETag },
  401: { 'WWW-Authenticate': 'Always `Bearer`.' },
  429: {
    'Retry-After': 'Seconds to wait before the next request.',
    RateLimit: 'What is left of the limit, and after how many seconds there is more.',
    'RateLimit-Policy': 'The limit, and its window in seconds.',
  },
  503: { 'Retry-After': 'Seconds to wait before the next request.' },
};

/** A request header as a parameter. */
export function headerParameter(name: RequestHeader): Json {
  const { description, pattern } = requestHeaders[name];
  return {
    name,
    in: 'header',
    description,
    schema: { type: 'string', ...(pattern && { pattern: pattern.source }) },
  };
}

/** The headers of an answer, as references to `headerComponents`.
 *  @param names those that the operation sets itself */
export function headersOf(status: number, names: readonly ResponseHeader[] = []): Json {
  const all = ['X-Request-Id', ...Object.keys(statusHeaders[status] ?? {}), ...names];
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Every header that an answer can have. */
export function headerComponents(): Json {
  const described = Object.assign({}, responseHeaders, ...Object.values(statusHeaders)) as object;
  return Object.fromEntries(
    Object.entries(described).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  );
}
