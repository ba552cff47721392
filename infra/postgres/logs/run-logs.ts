/** Stores run logs in Postgres, with one row per chunk. */
import type { LogChunk, LogItem, LogPage, LogQuery, RunLogs } from '#domain/ports/run-logs.ts';
import type { Queryable } from '../database.ts';
import { endOf, forwards, gapBetween, itemsOf, matches } from './run-log-items.ts';

const statements = {
  append: `
    INSERT INTO run_log_chunks (run_id, first_seq, last_seq, bytes, items)
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::integer[], $5::text[])
    ON CONFLICT DO NOTHING`,
  remove: `DELETE FROM run_log_chunks WHERE run_id = $1 AND first_seq BETWEEN $2 AND $3`,
  // The chunk that contains a line is the last chunk that begins at or before that line. The primary key index finds
  // this chunk.
  forwards: `
    SELECT first_seq, last_seq, bytes, items FROM run_log_chunks
    WHERE run_id = $1 AND last_seq >= $2 AND first_seq >= coalesce(
      (SELECT max(first_seq) FROM run_log_chunks WHERE run_id = $1 AND first_seq <= $2), 0)
    ORDER BY first_seq LIMIT $3`,
  backwards: `
    SELECT first_seq, last_seq, bytes, items FROM run_log_chunks
    WHERE run_id = $1 AND first_seq < $2 AND last_seq >= $4
    ORDER BY first_seq DESC LIMIT $3`,
};

// Most pages need only a few chunks, but a search needs many.
const FIRST_FETCH = 4;
const MAX_FETCH = 32;
// The maximum number of bytes to scan per call, which bounds a search without matches.
const MAX_SCAN_BYTES = 8 * 1024 * 1024;

interface Row {
  readonly first_seq: string | number;
  readonly last_seq: string | number;
  readonly bytes: number;
  readonly items: string;
}

export class PostgresRunLogs implements RunLogs {
  readonly #db: Queryable;

  constructor(db: Queryable) {
    this.#db = db;
  }

  async append(chunks: readonly LogChunk[]): Promise<void> {
    if (chunks.length === 0) return;
    await this.#db.query(statements.append, [
      chunks.map((chunk) => chunk.runId),
      chunks.map((chunk) => chunk.firstSeq),
      chunks.map((chunk) => chunk.lastSeq),
      chunks.map((chunk) => chunk.bytes),
      chunks.map((chunk) => chunk.itemsJson),
    ]);
  }

  async removeChunks(runId: string, fromSeq: number, toSeq: number): Promise<void> {
    await this.#db.query(statements.remove, [runId, fromSeq, toSeq]);
  }

  async readChunks(runId: string, fromSeq: number, limit: number): Promise<readonly LogChunk[]> {
    const { rows } = await this.#db.query<Row>(statements.forwards, [runId, fromSeq, limit]);
    return rows.map((row) => chunkOf(runId, row));
  }

  read(runId: string, query: LogQuery): Promise<LogPage> {
    return query.fromEnd === true ? this.#readLast(runId, query) : this.#readFirst(runId, query);
  }

  async #readFirst(runId: string, query: LogQuery): Promise<LogPage> {
    const items: LogItem[] = [];
    let nextSeq = query.fromSeq;
    let scannedBytes = 0;
    for (let fetch = FIRST_FETCH; scannedBytes < MAX_SCAN_BYTES; fetch = more(fetch)) {
      const chunks = await this.readChunks(runId, nextSeq, fetch);
      for (const chunk of chunks) {
        for (const item of forwards(chunk, nextSeq)) {
          if (items.length === query.limit) return { items, nextSeq, more: true };
          if (matches(item, query)) items.push(item);
          nextSeq = endOf(item) + 1;
        }
        scannedBytes += chunk.bytes;
      }
      if (chunks.length < fetch) return { items, nextSeq, more: false };
    }
    return { items, nextSeq, more: true };
  }

  async #readLast(runId: string, query: LogQuery): Promise<LogPage> {
    const newestFirst: LogItem[] = [];
    let newer: LogChunk | undefined;
    let nextSeq = query.fromSeq;
    let scannedBytes = 0;
    const page = (hasMore: boolean): LogPage => {
      const items = newestFirst.slice(0, query.limit).toReversed();
      return { items, nextSeq, more: hasMore || newestFirst.length > query.limit };
    };
    for (let fetch = FIRST_FETCH; scannedBytes < MAX_SCAN_BYTES; fetch = more(fetch)) {
      const chunks = await this.#chunksBefore(runId, newer?.firstSeq, fetch, query.fromSeq);
      for (const chunk of chunks) {
        if (newer === undefined) nextSeq = chunk.lastSeq + 1;
        const own = itemsOf(chunk).filter((item) => item.seq >= query.fromSeq);
        const found = [...own, ...gapBetween(chunk, newer, query.fromSeq)];
        newestFirst.push(...found.filter((item) => matches(item, query)).toReversed());
        newer = chunk;
        scannedBytes += chunk.bytes;
        if (newestFirst.length > query.limit) return page(true);
      }
      if (chunks.length < fetch) {
        const first = gapBetween(undefined, newer, query.fromSeq);
        newestFirst.push(...first.filter((item) => matches(item, query)));
        return page(false);
      }
    }
    return page(true);
  }

  async #chunksBefore(
    runId: string,
    beforeSeq: number | undefined,
    limit: number,
    fromSeq: number,
  ): Promise<LogChunk[]> {
    const before = beforeSeq ?? Number.MAX_SAFE_INTEGER;
    const values = [runId, before, limit, fromSeq];
    const { rows } = await this.#db.query<Row>(statements.backwards, values);
    return rows.map((row) => chunkOf(runId, row));
  }
}

function more(fetch: number): number {
  return Math.min(MAX_FETCH, fetch * 2);
}

function chunkOf(runId: string, row: Row): LogChunk {
  return {
    runId,
    firstSeq: Number(row.first_seq),
    lastSeq: Number(row.last_seq),
    bytes: row.bytes,
    itemsJson: row.items,
  };
}
