/** Reads and writes database rows in parts of bounded size. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Queryable } from '#infra/postgres/database.ts';

const compress = promisify(gzip);
const partBytes = 1024 * 1024;
const firstFetch = 16;
const maxRows = 2_000;

/** Gzip-compressed JSON lines, one per row. */
export interface Part {
  readonly content: Uint8Array;
  readonly rows: number;
}

/**
 * Reads the rows of a query inside the caller's transaction. Derives the number of rows per fetch from the size of
 * previous rows, so that each fetch fits in one part.
 */
export async function* partsOf(db: Queryable, query: string): AsyncGenerator<Part> {
  await db.query(
    `DECLARE backup_rows NO SCROLL CURSOR FOR SELECT row_to_json(r)::text AS line FROM (${query}) r`,
  );
  let lines: string[] = [];
  let size = 0;
  for (let count = firstFetch; ;) {
    const { rows } = await db.query<{ line: string }>(`FETCH ${count} FROM backup_rows`);
    let fetched = 0;
    for (const { line } of rows) {
      lines.push(line);
      fetched += line.length + 1;
    }
    size += fetched;
    const isEnd = rows.length < count;
    if (size >= partBytes || (isEnd && lines.length > 0)) {
      yield { content: await compressed(lines), rows: lines.length };
      [lines, size] = [[], 0];
    }
    if (isEnd) break;
    count = Math.max(1, Math.min(maxRows, Math.floor((count * partBytes) / fetched)));
  }
  await db.query('CLOSE backup_rows');
}

function compressed(lines: readonly string[]): Promise<Uint8Array> {
  return compress(`${lines.join('\n')}\n`, { level: 4 });
}
