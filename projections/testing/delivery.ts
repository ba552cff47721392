/** Delivers events to projections and returns the resulting rows. */
import type { Recorded } from '#domain/aggregates.ts';
import { openDatabase, queryBuilder } from '#infra/postgres/database.ts';
import { createTestDatabase } from '#infra/testing/database.ts';
import { sql } from 'kysely';
import { applyAll, type Projection, type ReadModels } from '../projection.ts';
import type { Tables } from '../tables.ts';

export interface TestReads {
  readonly db: ReadModels;
  close(): Promise<void>;
}

/** The read models of an empty platform. */
export async function openTestReads(): Promise<TestReads> {
  const { serviceUrl, drop } = await createTestDatabase();
  const { pool, close } = openDatabase(serviceUrl, {
    connections: 2,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
  return {
    db: queryBuilder<Tables>(pool),
    close: async () => {
      await close();
      await drop();
    },
  };
}

/** Returns every row of all tables of the projections, sorted by their text. */
export type Rows = Readonly<Record<string, readonly unknown[]>>;

export async function rowsOf(db: ReadModels, projections: readonly Projection[]): Promise<Rows> {
  const rows: Record<string, readonly unknown[]> = {};
  for (const table of projections.flatMap((projection) => projection.tables)) {
    const found = await sql<{
      queue_position?: number;
    }>`SELECT t.* FROM ${sql.table(table)} t ORDER BY t::text`.execute(db);
    rows[table] = withRanks(found.rows);
  }
  return rows;
}

/** Replaces queue positions with their ranks, because a sequence assigns the positions. */
function withRanks(rows: readonly { readonly queue_position?: number }[]): readonly object[] {
  const positions = rows.flatMap((row) => row.queue_position ?? []).toSorted((a, b) => a - b);
  return rows.map((row) =>
    row.queue_position === undefined
      ? row
      : { ...row, queue_position: positions.indexOf(row.queue_position) + 1 },
  );
}

class Undone extends Error {}

/** Delivers batches to empty tables, and rolls back all changes. @returns the rows before the rollback */
export async function rowsAfter(
  db: ReadModels,
  projections: readonly Projection[],
  batches: readonly (readonly Recorded[])[],
): Promise<Rows> {
  let rows: Rows = {};
  const work = db.transaction().execute(async (transaction) => {
    for (const batch of batches) await applyAll(projections, transaction, batch);
    rows = await rowsOf(transaction, projections);
    throw new Undone();
  });
  await work.catch((error: unknown) => {
    if (!(error instanceof Undone)) throw error;
  });
  return rows;
}
