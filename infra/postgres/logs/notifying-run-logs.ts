/** Run logs that publish what they store. Where the bus is Postgres, the rows and the message go in one write:
 *  followers hear of the rows before their writer does. */
import type { Bus, BusMessage } from '#domain/ports/bus.ts';
import type { LogChunk, RunLogs } from '#domain/ports/run-logs.ts';
import type { Write } from '#projections/projection.ts';
import type pg from 'pg';
import { PostgresRunLogs } from './run-logs.ts';

/** What publishes messages as a statement, where a query finds a row; `undefined` where that is not possible now. */
export type StatementFor = (messages: readonly BusMessage[], proof?: Write) => Write | undefined;

export interface NotifyingRunLogsOptions {
  readonly pool: pg.Pool;
  readonly bus: Pick<Bus, 'publish'>;
  /** Absent where the bus has nothing to do with the database. */
  readonly statementFor: StatementFor | undefined;
}

export class NotifyingRunLogs implements Pick<RunLogs, 'append' | 'removeChunks'> {
  readonly #parts: NotifyingRunLogsOptions;
  readonly #logs: PostgresRunLogs;

  constructor(parts: NotifyingRunLogsOptions) {
    this.#parts = parts;
    this.#logs = new PostgresRunLogs(parts.pool);
  }

  /** Notifies only about stored chunks. Duplicate notifications are harmless. */
  async append(chunks: readonly LogChunk[]): Promise<void> {
    const { bus, statementFor } = this.#parts;
    const last = chunks.at(-1);
    if (last === undefined) return;
    const messages = chunks.map(messageOf);
    const statement = statementFor?.(messages, proofOf(last));
    if (statement === undefined) {
      await this.#logs.append(chunks);
      bus.publish(...messages);
      return;
    }
    const client = await this.#parts.pool.connect();
    try {
      const stored = new PostgresRunLogs(client).append(chunks);
      const told = client.query(statement.text, [...statement.values]);
      // Says nothing about what is stored.
      told.catch(() => undefined);
      await stored;
      told.catch(() => bus.publish(...messages));
    } finally {
      client.release();
    }
  }

  async removeChunks(runId: string, fromSeq: number, toSeq: number): Promise<void> {
    await this.#logs.removeChunks(runId, fromSeq, toSeq);
  }
}

/** Chunks of one call are stored all or none. */
function proofOf({ runId, firstSeq }: LogChunk): Write {
  return {
    text: 'SELECT FROM run_log_chunks WHERE run_id = $2 AND first_seq = $3',
    values: [runId, String(firstSeq)],
  };
}

function messageOf({ runId, firstSeq, lastSeq, itemsJson: items }: LogChunk): BusMessage {
  return { topic: 'log', runId, firstSeq, lastSeq, items };
}
