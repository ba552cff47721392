/** Writes responses. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ServerResponse } from 'node:http';
import type { Rendered } from '../idempotency.ts';
import { problemDocument, problemHeaders, problemKinds } from '../problem.ts';
import type { Answer, Reply } from '../reply.ts';

type Streamed = Omit<Rendered, 'body'> & { readonly body: AsyncIterable<Uint8Array> };

export type Sendable = Answer | Rendered | Streamed;

export function isRendered(answer: Sendable): answer is Rendered | Streamed {
  return !('kind' in answer);
}

/** Renders the status, headers and body of a response. */
export function render(answer: Answer, traceId: string): Rendered | Streamed {
  if (answer.kind === 'problem') {
    const { redirectTo } = answer;
    return {
      ...(redirectTo === undefined
        ? {
            status: problemKinds[answer.code].status,
            headers: { ...problemHeaders(answer), 'Content-Type': 'application/problem+json' },
            body: JSON.stringify(problemDocument(answer, traceId)),
          }
        : { status: 303, headers: { Location: redirectTo }, body: '' }),
      ...(answer.isExpected !== true && { code: answer.code }),
      ...(answer.resource !== undefined && { resource: answer.resource }),
    };
  }
  return renderReply(answer);
}

function renderReply({ status, headers, body }: Reply): Rendered | Streamed {
  switch (body.kind) {
    case 'none':
      return { status, headers, body: '' };
    case 'json':
      return {
        status,
        headers: { ...headers, 'Content-Type': 'application/json; charset=utf-8' },
        body: JSON.stringify(body.value),
      };
    case 'text':
      return { status, headers: { ...headers, 'Content-Type': body.type }, body: body.text };
    case 'stream':
      return { status, headers: { ...headers, 'Content-Type': body.type }, body: body.chunks };
  }
}

/** Returns a response in a form that can be stored.
 *  @throws if the response is streamed */
export function whole(answer: Rendered | Streamed): Rendered {
  const { body } = answer;
  if (typeof body !== 'string') throw new Error('a streamed response cannot be stored for replay');
  return { ...answer, body };
}

/** Sends a response at the client's pace.
 *  @throws if the client disconnects or a stream fails */
export async function send(
  response: ServerResponse,
  { status, headers, body }: Rendered | Streamed,
  traceId: string,
): Promise<void> {
  response.statusCode = status;
  response.setHeader('X-Request-Id', traceId);
  if (!('Cache-Control' in headers)) response.setHeader('Cache-Control', 'no-store');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (typeof body !== 'string') {
    await pipeline(Readable.from(body, { objectMode: false }), response);
    return;
  }
  if (status !== 204 && status !== 304) {
    response.setHeader('Content-Length', Buffer.byteLength(body));
  }
  response.end(body);
}
