/** Run statistics by the time at which runs ended. Counting is not idempotent, so the position of the last counted
 *  event is stored. */
import type { Recorded } from '#domain/aggregates.ts';
import { isAfter, startOfStore, type Position } from '#domain/kernel/event.ts';
import type { RunEvent } from '#domain/run/events.ts';
import { sql } from 'kysely';
import type { Columns } from '../columns.ts';
import type { Projection, ReadModels } from '../projection.ts';
import { unnested } from '../rows.ts';
import type { Tables } from '../tables.ts';
import { addEnd, Tally } from './tally.ts';
import {
  figureRunColumns,
  runFigureColumns,
  type FigureRunsTable,
  type RunFiguresTable,
} from './table.ts';

type RunRecorded = Recorded<RunEvent>;

/** Builds run statistics per group and interval. Only the projector writes them. */
export const runFiguresProjection: Projection = {
  name: 'run_figures',
  version: 1,
  handles: ['RunQueued', 'RunStarted', 'RunFinished'],
  tables: ['run_figures', 'figure_runs', 'figure_place'],
  apply: async (db, events) => {
    const place = await placeOf(db);
    const fresh = events.filter((event) => isAfter(event.position, place));
    const last = fresh.at(-1);
    if (last === undefined) return;
    await count(db, fresh as readonly RunRecorded[]);
    await moveTo(db, last.position);
  },
};

async function count(db: ReadModels, events: readonly RunRecorded[]): Promise<void> {
  const runs = await runsOf(db, events);
  const tally = new Tally();
  const gone = new Set<string>();
  for (const event of events) {
    const run = runs.get(event.data.runId);
    if (event.type === 'RunFinished' && run !== undefined) {
      addEnd(tally, run, event);
      gone.add(run.run_id);
    }
    const next = after(run, event);
    if (next !== undefined) runs.set(next.run_id, next);
  }
  const left = [...runs.values()].filter((run) => !gone.has(run.run_id));
  await upsert(db, 'figure_runs', ['run_id'], figureRunColumns, left);
  await sql`DELETE FROM figure_runs WHERE run_id = ANY(${[...gone]}::uuid[])`.execute(db);
  await add(db, tally);
}

/** Returns the stored data of a run after an event that does not end the run. */
function after(run: FigureRunsTable | undefined, event: RunRecorded): FigureRunsTable | undefined {
  switch (event.type) {
    case 'RunQueued':
      return {
        run_id: event.data.runId,
        group_id: event.data.groupId,
        queued_at: event.recordedAt,
        started_at: null,
      };
    case 'RunStarted':
      return run && { ...run, started_at: event.recordedAt };
    case 'RunApprovalRequested':
    case 'RunApproved':
    case 'RunRejected':
    case 'RunApprovalExpired':
    case 'RunApprovalWithdrawn':
    case 'RunReleased':
    case 'RunStopRequested':
    case 'RunFinished':
      return undefined;
  }
}

async function runsOf(
  db: ReadModels,
  events: readonly RunRecorded[],
): Promise<Map<string, FigureRunsTable>> {
  const ids = [...new Set(events.map((event) => event.data.runId))];
  const rows = await db
    .selectFrom('figure_runs')
    .selectAll()
    .where(sql<boolean>`run_id = ANY(${ids}::uuid[])`)
    .execute();
  return new Map(rows.map((row) => [row.run_id, row]));
}

/** Adds the counts to the existing rows. */
async function add(db: ReadModels, tally: Tally): Promise<void> {
  const keys = tally.rows;
  if (keys.length === 0) return;
  const column = (name: keyof RunFiguresTable) =>
    unnested(
      runFigureColumns[name],
      keys.map((row) => row[name]),
    );
  const { rows } = await sql<RunFiguresTable>`
    SELECT run_figures.* FROM run_figures JOIN unnest(
      ${sql.join([column('level_seconds'), column('group_id'), column('begins_at')])}
    ) AS touched (level_seconds, group_id, begins_at) USING (level_seconds, group_id, begins_at)
    `.execute(db);
  for (const row of rows) tally.add(row);
  const key = ['level_seconds', 'group_id', 'begins_at'] as const;
  await upsert(db, 'run_figures', key, runFigureColumns, tally.rows);
}

async function upsert<Row>(
  db: ReadModels,
  table: keyof Tables,
  key: readonly (keyof Row & string)[],
  columns: Columns<Row>,
  rows: readonly Row[],
): Promise<void> {
  if (rows.length === 0) return;
  const names = Object.keys(columns) as (keyof Row & string)[];
  const values = names.map((name) =>
    unnested(
      columns[name],
      rows.map((row) => row[name]),
    ),
  );
  const others = names.filter((name) => !key.includes(name));
  await sql`
    INSERT INTO ${sql.table(table)} (${sql.join(names.map((name) => sql.ref(name)))})
    SELECT * FROM unnest(${sql.join(values)})
    ON CONFLICT (${sql.join(key.map((name) => sql.ref(name)))}) DO UPDATE
    SET ${sql.join(others.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`))}
    `.execute(db);
}

async function placeOf(db: ReadModels): Promise<Position> {
  const row = await db.selectFrom('figure_place').selectAll().executeTakeFirst();
  return row === undefined
    ? startOfStore
    : { transactionId: BigInt(row.transaction_id), globalPosition: row.global_position };
}

async function moveTo(db: ReadModels, place: Position): Promise<void> {
  const transaction = place.transactionId.toString();
  await sql`
    INSERT INTO figure_place (singleton, transaction_id, global_position)
    VALUES (true, ${transaction}::xid8, ${place.globalPosition})
    ON CONFLICT (singleton) DO UPDATE SET transaction_id = excluded.transaction_id,
      global_position = excluded.global_position`.execute(db);
}
