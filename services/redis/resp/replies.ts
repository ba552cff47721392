/** Defines replies and encodes them in both versions of the protocol (RESP2 and RESP3). */

export type Protocol = 2 | 3;

/** A reply. Numbers become integers, text and bytes become bulk strings, and `null` becomes the null reply. */
export type Reply =
  | number
  | string
  | Buffer
  | null
  | readonly Reply[]
  /** A status reply, such as `+OK`. */
  | { readonly kind: 'status'; readonly text: string }
  | { readonly kind: 'error'; readonly text: string }
  /** The null array, which RESP2 distinguishes from the null bulk string. */
  | { readonly kind: 'no array' }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [Reply, Reply])[] }
  /** A flat array of alternating names and values, in both protocol versions. */
  | { readonly kind: 'pairs'; readonly entries: readonly (readonly [Reply, Reply])[] }
  /** Values by name. RESP2 encodes each entry as an array of the name and the value. */
  | { readonly kind: 'streams'; readonly entries: readonly (readonly [Reply, Reply])[] }
  | { readonly kind: 'set'; readonly items: readonly Reply[] }
  /** A message that is not a reply to a request. */
  | { readonly kind: 'push'; readonly items: readonly Reply[] }
  /** Plain text for users to read. */
  | { readonly kind: 'text'; readonly text: string }
  /** Several replies that are sent in order. */
  | { readonly kind: 'several'; readonly replies: readonly Reply[] };

export type ErrorReply = Extract<Reply, { kind: 'error' }>;

export const ok: Reply = { kind: 'status', text: 'OK' };
export const noArray: Reply = { kind: 'no array' };

export function status(text: string): Reply {
  return { kind: 'status', text };
}

/** @param text starts with an error code in capital letters */
export function failure(text: string): ErrorReply {
  return { kind: 'error', text };
}

export function map(entries: readonly (readonly [Reply, Reply])[]): Reply {
  return { kind: 'map', entries };
}

/** As in Redis, the reply to PUBSUB NUMSUB is a flat array even in RESP3. */
export function pairs(entries: readonly (readonly [Reply, Reply])[]): Reply {
  return { kind: 'pairs', entries };
}

export function streams(entries: readonly (readonly [Reply, Reply])[]): Reply {
  return { kind: 'streams', entries };
}

export function push(...items: readonly Reply[]): Reply {
  return { kind: 'push', items };
}

/** Encodes a reply. */
export function encode(reply: Reply, protocol: Protocol): Buffer {
  const parts: (string | Buffer)[] = [];
  write(reply, protocol, parts);
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

function write(reply: Reply, protocol: Protocol, parts: (string | Buffer)[]): void {
  const isNew = protocol === 3;
  const all = (head: string, replies: readonly Reply[]): void => {
    parts.push(`${head}\r\n`);
    for (const one of replies) write(one, protocol, parts);
  };
  if (reply === null) {
    parts.push(isNew ? '_\r\n' : '$-1\r\n');
  } else if (typeof reply === 'number') {
    parts.push(`:${reply}\r\n`);
  } else if (typeof reply === 'string') {
    parts.push(`$${Buffer.byteLength(reply)}\r\n${reply}\r\n`);
  } else if (Buffer.isBuffer(reply)) {
    parts.push(`$${reply.length}\r\n`, reply, '\r\n');
  } else if (isArray(reply)) {
    all(`*${reply.length}`, reply);
  } else {
    switch (reply.kind) {
      case 'status':
        parts.push(`+${oneLine(reply.text)}\r\n`);
        break;
      case 'error':
        parts.push(`-${oneLine(reply.text)}\r\n`);
        break;
      case 'no array':
        parts.push(isNew ? '_\r\n' : '*-1\r\n');
        break;
      case 'map':
        all(
          isNew ? `%${reply.entries.length}` : `*${reply.entries.length * 2}`,
          reply.entries.flat(),
        );
        break;
      case 'pairs':
        all(`*${reply.entries.length * 2}`, reply.entries.flat());
        break;
      case 'streams':
        if (isNew) all(`%${reply.entries.length}`, reply.entries.flat());
        else all(`*${reply.entries.length}`, reply.entries);
        break;
      case 'set':
        all(`${isNew ? '~' : '*'}${reply.items.length}`, reply.items);
        break;
      case 'push':
        all(`${isNew ? '>' : '*'}${reply.items.length}`, reply.items);
        break;
      case 'text':
        parts.push(
          isNew
            ? `=${Buffer.byteLength(reply.text) + 4}\r\ntxt:${reply.text}\r\n`
            : `$${Buffer.byteLength(reply.text)}\r\n${reply.text}\r\n`,
        );
        break;
      case 'several':
        for (const one of reply.replies) write(one, protocol, parts);
        break;
    }
  }
}

function isArray(reply: Reply): reply is readonly Reply[] {
  return Array.isArray(reply);
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ');
}
