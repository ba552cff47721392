/** The headers in the API description. */
import { keyPattern } from '../idempotency.ts';
import { positionPattern } from '../min-position.ts';
import type { RequestHeader, ResponseHeader } from '../operation.ts';

type Json = Record<string, unknown>;

interface RequestHeaderRule {
  readonly description: string;
  /** The pattern of valid values; absent if any text is accepted. */
  readonly pattern?: RegExp;
}

const requestHeaders: Readonly<Record<RequestHeader, RequestHeaderRule>> = {
  'If-Match': {
    description:
      'The `ETag` from an earlier response. If the resource has changed since, the response is 412.',
  },
  'If-None-Match': {
    description: 'The `ETag` of your copy. If the copy is current, the response is 304.',
  },
  Prefer: {
    description:
      '`wait=30` delays the response until the run ends, for at most 30 seconds. The value is a whole ' +
      'number of seconds; a value over 60 counts as 60. Other values and preferences are ignored.',
  },
  'Orch-Min-Position': {
    description:
      'Delays the response until it reflects the write that returned this `Orch-Position`.',
    pattern: positionPattern,
  },
  'Orch-Client': {
    description: '`mcp` marks a request sent by a language model. The run gets the trigger `mcp`.',
  },
  'Orch-Session-Key': { description: 'The `session_key` from the sign-in.' },
  'Idempotency-Key': {
    description:
      'Repeating a request with the same key and body within 24 hours returns the first response, or a ' +
      'current response if the client disconnected before the first one.',
    pattern: keyPattern,
  },
};

const responseHeaders: Readonly<Record<ResponseHeader | 'X-Request-Id', string>> = {
  ETag: 'Version of the resource.',
  Location: 'URL of the new resource.',
  Link: 'URL of the next page, with `rel="next"`.',
  'Orch-Position': 'Position of the last event that the request recorded.',
  'Set-Cookie': 'The refresh token, for browsers.',
  'Content-Disposition': 'Always `attachment`, with the file name.',
  'Idempotency-Replayed': '`true` if this is a replay of the first response.',
  'Preference-Applied': 'The applied preferences.',
  'X-Request-Id': "ID of the request's trace.",
};

/** Response headers by status, for all operations. */
const statusHeaders: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  304: { ETag: responseHeaders.ETag },
  401: { 'WWW-Authenticate': 'Always `Bearer`.' },
  429: {
    'Retry-After': 'Seconds to wait before the next request.',
    RateLimit: 'Remaining requests, and the seconds until the limit resets.',
    'RateLimit-Policy': 'Limit and window in seconds.',
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

/** The headers of a response, as references to `headerComponents`.
 *  @param names headers that the operation sets itself */
export function headersOf(status: number, names: readonly ResponseHeader[] = []): Json {
  const all = ['X-Request-Id', ...Object.keys(statusHeaders[status] ?? {}), ...names];
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** All response headers. */
export function headerComponents(): Json {
  const described = Object.assign({}, responseHeaders, ...Object.values(statusHeaders)) as object;
  return Object.fromEntries(
    Object.entries(described).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  );
}
