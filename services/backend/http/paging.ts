/** Pages by key: a cursor says behind which row the next page begins, and of which list. */
import { createHash } from 'node:crypto';
import { problem, type Problem } from './problem.ts';
import { json, type Reply } from './reply.ts';

export const defaultLimit = 50;

/** A list as one caller filters it. */
export interface ListRequest {
  /** The operation's id. */
  readonly list: string;
  /** Everything that decides which rows are in it, but `limit` and `cursor`. */
  readonly filter: unknown;
  /** Path and query as they were asked for. */
  readonly url: string;
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
}

const badCursor = problem(
  'invalid_cursor',
  'The cursor does not belong to this list. Start again from the first page.',
);

/** The key that a cursor carries.
 *  @param parse takes the key's text to its value
 *  @returns `undefined` at the beginning of the list, or the problem of a foreign cursor */
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

/** The rows of one page, and whether there is a next. Ask the database for `limit + 1`.
 *  @param beside what the answer says of the whole list */
export function pageReply<Row>(
  request: ListRequest,
  rows: readonly Row[],
  keyOfRow: (row: Row) => string,
  render: (row: Row) => unknown,
  beside: object = {},
): Reply {
  const limit = request.limit ?? defaultLimit;
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const next = rows.length > limit && last !== undefined ? keyOfRow(last) : null;
  return pageOf(request, items.map(render), next, beside);
}

/** A page whose next begins behind `nextKey`; `null` ends the list. */
export function pageOf(
  request: ListRequest,
  items: readonly unknown[],
  nextKey: string | null,
  beside: object = {},
): Reply {
  if (nextKey === null) return json(200, { items, next_cursor: null, ...beside });
  const tag = tagOf(request.list, request.filter);
  const cursor = Buffer.from(`${tag} ${nextKey}`).toString('base64url');
  return json(
    200,
    { items, next_cursor: cursor, ...beside },
    { Link: linkTo(request.url, cursor) },
  );
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
