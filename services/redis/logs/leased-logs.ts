/** Writes lines from lease holders to the logs of their runs. Each chunk is stored while the lease is locked. The
 *  chunks of all adapters are therefore in order, and a holder whose lease has expired cannot write. */
import type { Bus } from '#domain/ports/bus.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { LogChunk, LogItem } from '#domain/ports/run-logs.ts';
import { defaultLimits } from '#domain/script/settings.ts';
import { inTransaction, type Queryable } from '#infra/postgres/database.ts';
import { lastSeqOf, lockLease, storedBytes, truncateLog } from '#infra/postgres/logs/leased-log.ts';
import { PostgresRunLogs } from '#infra/postgres/logs/run-logs.ts';
import { createLineSplitter } from '#services/shared/line-splitter.ts';
import { LogLevels } from '#domain/run/log-level.ts';
import type pg from 'pg';
import type { Held } from '../jobs/leases.ts';

const maxChunkBytes = 64 * 1024;
/** The maximum size of a chunk is the log's size limit divided by this number. Small chunks keep the truncation of a
 *  log precise. */
const chunksPerLimit = 16;
const maxKnown = 1000;

export interface LeasedLogsDeps {
  readonly pool: pg.Pool;
  readonly bus: Bus;
  readonly clock: Clock;
}

type Written = Pick<Held, 'runId' | 'owner' | 'limits'>;

export class LeasedLogs {
  readonly #deps: LeasedLogsDeps;
  /** The stored size of each log up to its last line. An entry is valid only if the log still ends with that line. */
  readonly #known = new Map<string, { readonly lastSeq: number; readonly bytes: number }>();

  constructor(deps: LeasedLogsDeps) {
    this.#deps = deps;
  }

  /** @returns the number of the last line, or `undefined` if the lease has expired */
  async append(
    held: Written,
    stream: 'stdout' | 'stderr',
    text: Buffer,
  ): Promise<number | undefined> {
    const { pool, bus } = this.#deps;
    const chunks = await inTransaction(pool, (client) => this.#store(client, held, stream, text));
    const { runId } = held;
    for (const { firstSeq, lastSeq, itemsJson: items } of chunks ?? []) {
      bus.publish({ topic: 'log', runId, firstSeq, lastSeq, items });
    }
    return chunks?.at(-1)?.lastSeq;
  }

  async #store(
    client: Queryable,
    { runId, owner, limits }: Written,
    stream: 'stdout' | 'stderr',
    text: Buffer,
  ): Promise<readonly LogChunk[] | undefined> {
    if (!(await lockLease(client, runId, owner))) return undefined;
    const lastSeq = await lastSeqOf(client, runId);
    const limit = limits.log_bytes === undefined ? defaultLimits.log_bytes : limits.log_bytes;
    const chunks = chunksOf(runId, lastSeq + 1, this.#items(stream, text), limit);
    await new PostgresRunLogs(client).append(chunks);
    const added = chunks.reduce((sum, { bytes }) => sum + bytes, 0);
    let bytes = await this.#bytesUpTo(client, runId, lastSeq, added);
    if (limit !== null && bytes > limit) bytes -= await truncateLog(client, runId, limit);
    this.#remember(runId, chunks.at(-1)?.lastSeq ?? lastSeq, bytes);
    return chunks;
  }

  #items(stream: 'stdout' | 'stderr', text: Buffer) {
    const splitter = createLineSplitter();
    const lines = [...splitter.push(stream, text), ...splitter.flush(true)];
    const texts = lines.length === 0 ? [''] : lines.map((line) => line.text);
    const time = this.#deps.clock.now().toISOString();
    const levels = new LogLevels();
    return texts.map((one) => ({ time, stream, level: levels.next(stream, one), text: one }));
  }

  /** Returns the current size of the stored log. */
  async #bytesUpTo(
    client: Queryable,
    runId: string,
    lastSeq: number,
    added: number,
  ): Promise<number> {
    const known = this.#known.get(runId);
    if (known?.lastSeq === lastSeq) return known.bytes + added;
    return await storedBytes(client, runId);
  }

  #remember(runId: string, lastSeq: number, bytes: number): void {
    this.#known.delete(runId);
    this.#known.set(runId, { lastSeq, bytes });
    const [oldest] = this.#known.size > maxKnown ? this.#known.keys() : [];
    if (oldest !== undefined) this.#known.delete(oldest);
  }
}

type Item = Pick<LogItem, 'time' | 'stream' | 'level' | 'text'>;

function chunksOf(
  runId: string,
  firstSeq: number,
  items: readonly Item[],
  limit: number | null,
): readonly LogChunk[] {
  const most = limit === null ? maxChunkBytes : Math.min(maxChunkBytes, limit / chunksPerLimit);
  const chunks: LogChunk[] = [];
  let texts: string[] = [];
  let bytes = 0;
  let seq = firstSeq;
  const seal = (): void => {
    if (texts.length === 0) return;
    const itemsJson = `[${texts.join(',')}]`;
    chunks.push({ runId, firstSeq: seq - texts.length, lastSeq: seq - 1, bytes, itemsJson });
    texts = [];
    bytes = 0;
  };
  for (const item of items) {
    const size = Buffer.byteLength(item.text) + 1;
    if (bytes + size > most) seal();
    texts.push(JSON.stringify({ seq, ...item }));
    bytes += size;
    seq += 1;
  }
  seal();
  return chunks;
}
