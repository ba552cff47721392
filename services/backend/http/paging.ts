/** Keyset pagination: a cursor contains the key of the last row, and identifies its list. */
import { createHash } from 'node:crypto';
import type { TSchema } from 'typebox';
import type { ResponseRule } from './operation.ts';
import { problem, type Problem } from './problem.ts';
import { json, type Reply } from './reply.ts';

export const defaultLimit = 50;

/** The response of an operation that returns a list. */
export function onePage(schema: TSchema): Readonly<Record<number, ResponseRule>> {
  return { 200: { description: 'One page of the list.', schema, headers: ['Link'] } };
}

/** A caller's request for a page of a filtered list. */
export interface ListRequest {
  /** The operation's ID. */
  readonly list: string;
  /** All parameters that select rows, apart from `limit` and `cursor`. */
  readonly filter: unknown;
  /** Path and query as requested. */
  readonly url: string;
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
}

const badCursor = problem(
  'invalid_cursor',
  'The cursor does not belong to this list. Start again from the first page.',
);

/** Parses the key in a cursor.
 *  @returns the key, `undefined` at the start of the list, or the problem with a cursor of another list */
export function keyOf<Key>(
  { list, filter, cursor }: ListRequest,
  parse: (text: string) => Key | undefined,
): { readonly key: Key | undefined } | Problem {
  if (cursor === undefined) return { key: undefined };
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const tag = tagOf(list, filter);
  if (!text.startsWith(`${tag} `)) return badCursor;
  const key = parse(text.slice(tag.length + 1));
  return key === undefined ? badCursor : { key };
}

/** Responds with a page of rows and a cursor for the next page, if there is one. The caller must query `limit + 1`
 *  rows.
 *  @param extra fields of the response about the whole list */
export function pageReply<Row>(
  request: ListRequest,
  rows: readonly Row[],
  keyOfRow: (row: Row) => string,
  render: (row: Row) => unknown,
  extra: object = {},
): Reply {
  const limit = request.limit ?? defaultLimit;
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const next = rows.length > limit && last !== undefined ? keyOfRow(last) : null;
  return pageOf(request, items.map(render), next, extra);
}

/** Responds with a page. @param nextKey the key after which the next page starts; `null` for the last page */
export function pageOf(
  request: ListRequest,
  items: readonly unknown[],
  nextKey: string | null,
  extra: object = {},
): Reply {
  if (nextKey === null) return json(200, { items, next_cursor: null, ...extra });
  const tag = tagOf(request.list, request.filter);
  const cursor = Buffer.from(`${tag} ${nextKey}`).toString('base64url');
  return json(200, { items, next_cursor: cursor, ...extra }, { Link: linkTo(request.url, cursor) });
}

function linkTo(url: string, cursor: string): string {
  const [path = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('cursor', cursor);
  return `<${path}?${parameters.toString()}>; rel="next"`;
}

function tagOf(list: string, filter: unknown): string {
  const text = `${list} ${JSON.stringify(filter)}`;
  return createHash('sha256').update(text).digest('base64url').slice(0, 12);
}
