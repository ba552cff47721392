/** Responses of handlers. */
import type { Problem } from './problem.ts';

type Headers = Readonly<Record<string, string>>;

export type ReplyBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly type: string; readonly text: string }
  | { readonly kind: 'stream'; readonly type: string; readonly chunks: AsyncIterable<Uint8Array> };

export interface Reply {
  readonly kind: 'reply';
  readonly status: number;
  readonly headers: Headers;
  readonly body: ReplyBody;
  readonly disclosure?: Disclosure;
}

/** A disclosure that the audit trail records. */
export interface Disclosure {
  /** The audit action, such as `script_exported`. */
  readonly action: string;
  /** The disclosed part of the resource, such as a path. */
  readonly detail?: string;
}

export type Answer = Reply | Problem;

export function json(status: number, value: unknown, headers: Headers = {}): Reply {
  return { kind: 'reply', status, headers, body: { kind: 'json', value } };
}

export function text(status: number, type: string, content: string, headers: Headers = {}): Reply {
  return { kind: 'reply', status, headers, body: { kind: 'text', type, text: content } };
}

/** Responds with a stream that is read at the client's pace. */
export function stream(
  status: number,
  type: string,
  chunks: AsyncIterable<Uint8Array>,
  headers: Headers = {},
): Reply {
  return { kind: 'reply', status, headers, body: { kind: 'stream', type, chunks } };
}

/** Adds a disclosure to a reply. The disclosure is recorded before the reply is sent. */
export function disclosing(reply: Reply, disclosure: Disclosure): Reply {
  return { ...reply, disclosure };
}

export function nothing(status: number, headers: Headers = {}): Reply {
  return { kind: 'reply', status, headers, body: { kind: 'none' } };
}
