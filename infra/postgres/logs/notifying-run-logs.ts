/** Stores run logs and publishes the stored lines. If the bus uses Postgres, the rows and the message are sent in one
 *  write. Followers then receive the lines before the writer's call completes. */
import type { Bus, BusMessage } from '#domain/ports/bus.ts';
import type { LogChunk, RunLogs } from '#domain/ports/run-logs.ts';
import type { Write } from '#projections/projection.ts';
import type pg from 'pg';
import { PostgresRunLogs } from './run-logs.ts';

/** Returns a statement that publishes messages if a query finds a row. Returns `undefined` if the bus cannot provide
 *  such a statement. */
export type StatementFor = (messages: readonly BusMessage[], proof: Write) => Write | undefined;

export interface NotifyingRunLogsOptions {
  readonly pool: pg.Pool;
  readonly bus: Pick<Bus, 'publish'>;
  /** Absent if the bus does not use the database. */
  readonly statementFor: StatementFor | undefined;
}

export class NotifyingRunLogs implements Pick<RunLogs, 'append' | 'removeChunks'> {
  readonly #options: NotifyingRunLogsOptions;
  readonly #logs: PostgresRunLogs;

  constructor(options: NotifyingRunLogsOptions) {
    this.#options = options;
    this.#logs = new PostgresRunLogs(options.pool);
  }

  /** Notifies only about chunks that were stored. Duplicate notifications are harmless. */
  async append(chunks: readonly LogChunk[]): Promise<void> {
    const { bus, statementFor } = this.#options;
    const last = chunks.at(-1);
    if (last === undefined) return;
    const messages = chunks.map(messageOf);
    const statement = statementFor?.(messages, proofOf(last));
    if (statement === undefined) {
      await this.#logs.append(chunks);
      bus.publish(...messages);
      return;
    }
    const client = await this.#options.pool.connect();
    try {
      const stored = new PostgresRunLogs(client).append(chunks);
      const told = client.query(statement.text, [...statement.values]);
      // Ignores a failed notification, because the lines are already stored.
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

/** Returns a query that finds a row if the chunk was stored. A call stores either all of its chunks or none. */
function proofOf({ runId, firstSeq }: LogChunk): Write {
  return {
    text: 'SELECT FROM run_log_chunks WHERE run_id = $2 AND first_seq = $3',
    values: [runId, String(firstSeq)],
  };
}

function messageOf({ runId, firstSeq, lastSeq, itemsJson: items }: LogChunk): BusMessage {
  return { topic: 'log', runId, firstSeq, lastSeq, items };
}
