/** Measures lists over a long history, each compared with a key lookup in the same table. */
import { performance } from 'node:perf_hooks';
import {
  deriveTimeOrderedId,
  type GroupId,
  type RunId,
  type ScriptId,
} from '#domain/kernel/ids.ts';
import { triggerTypes } from '#domain/run/run.ts';
import { openDatabase, queryBuilder } from '#infra/postgres/database.ts';
import { readStream } from '#infra/postgres/event-store/event-store.ts';
import { PostgresRunLogs } from '#infra/postgres/logs/run-logs.ts';
import { readBackwards } from '#infra/postgres/event-store/streams-at.ts';
import { listAudit } from '#projections/audit/queries.ts';
import type { ReadModels } from '#projections/projection.ts';
import type { RunListFilter } from '#projections/runs/list-filter.ts';
import { listRuns } from '#projections/runs/lists.ts';
import { findRun } from '#projections/runs/queries.ts';
import { findScript, listScripts } from '#projections/scripts/queries.ts';
import type { Tables } from '#projections/tables.ts';
import type pg from 'pg';
import { beginsAt, dormant, endsAt, groupOf, logged, quiet, scriptOf } from './long-history.ts';
import { median, row } from './report.ts';

const rounds = 100;
const pageSize = 51;
const bar = '≤ 4';

/** Measures the first page and a distant page of every list with every filter.
 *  @param url the URL of the database with the history */
export async function measureLists(url: string): Promise<void> {
  const database = openDatabase(url, {
    connections: 2,
    applicationName: 'bench',
    onIdleError: () => undefined,
  });
  const { pool } = database;
  const db = queryBuilder<Tables>(pool);
  try {
    await measureRuns(db);
    await measureOthers(db, pool);
  } finally {
    await database.close();
  }
}

/** Returns a point in time in the history.
 *  @param part from 0 (the beginning of the history) to 1 (its end) */
function timeAt(part: number): Date {
  return new Date(beginsAt.getTime() + part * (endsAt.getTime() - beginsAt.getTime()));
}

/** Returns the list key of a run requested at `timeAt(part)`. */
function keyAt(part: number): RunId {
  return deriveTimeOrderedId('00000000-0000-7000-8000-000000000000', timeAt(part)) as RunId;
}

const everywhere: RunListFilter = { groupIds: null };
const some: RunListFilter = { groupIds: [1, 2, 3, 4].map((number) => groupOf(number) as GroupId) };
const calm: RunListFilter = { groupIds: [quiet.group as GroupId] };
const month = { from: timeAt(0.7) };
const day = { from: timeAt(0.5), to: timeAt(0.51) };
const otherTriggers = triggerTypes.filter((one) => one !== 'schedule');
const popular = { scriptId: scriptOf(1) as ScriptId };

/** Filters, separately and combined. Some match many runs, some match few, and some match none. */
const lists: readonly (readonly [string, RunListFilter])[] = [
  ['all', everywhere],
  ['4 groups', some],
  ['1 group', calm],
  ['a script', { ...everywhere, ...popular }],
  ['a script, 4 groups', { ...some, ...popular }],
  ['success', { ...everywhere, statuses: ['success'] }],
  ['failed', { ...everywhere, statuses: ['failed'] }],
  ['failed, 4 groups', { ...some, statuses: ['failed'] }],
  ['failed, a script', { ...everywhere, ...popular, statuses: ['failed'] }],
  ['failed, a group that never does', { ...calm, statuses: ['failed'], ...month }],
  ['stopped, last month', { ...everywhere, statuses: ['stopped'], ...month }],
  ['queued', { ...everywhere, statuses: ['queued'] }],
  ['running, 4 groups', { ...some, statuses: ['running'] }],
  ['trigger schedule', { ...everywhere, triggerTypes: ['schedule'] }],
  ['trigger rerun (rare)', { ...everywhere, triggerTypes: ['rerun'] }],
  ['trigger mcp (none)', { ...some, triggerTypes: ['mcp'] }],
  ['trigger rerun, failed, 4 groups', { ...some, triggerTypes: ['rerun'], statuses: ['failed'] }],
  ['a day', { ...everywhere, ...day }],
  ['a day, failed, 4 groups', { ...some, statuses: ['failed'], ...day }],
  ['not success', { ...everywhere, statuses: ['queued', 'running', 'failed', 'stopped'] }],
  ['not trigger schedule, 4 groups', { ...some, triggerTypes: otherTriggers }],
  ['not a group', { ...everywhere, notGroupId: groupOf(1) as GroupId }],
  ['not the most frequent script', { ...everywhere, notScriptId: scriptOf(1) as ScriptId }],
  [
    'not a script, failed, 4 groups',
    { ...some, notScriptId: scriptOf(1) as ScriptId, statuses: ['failed'] },
  ],
  ['text of one script', { ...everywhere, text: dormant.name }],
  ['text of one script, failed', { ...everywhere, text: dormant.name, statuses: ['failed'] }],
  ['text of 500 scripts', { ...everywhere, text: 'price' }],
];

async function measureRuns(db: ReadModels): Promise<void> {
  const [any] = await listRuns(db, everywhere, keyAt(0.6), 1);
  const lookUp = () => findRun(db, any?.run_id as RunId);
  for (const [name, filter] of lists) {
    await measure(`runs: ${name}`, lookUp, () => listRuns(db, filter, undefined, pageSize));
    await measure(`runs: ${name}, deep`, lookUp, () => listRuns(db, filter, keyAt(0.3), pageSize));
  }
}

async function measureOthers(db: ReadModels, pool: pg.Pool): Promise<void> {
  const { groupIds } = everywhere;
  const scriptId = scriptOf(70) as ScriptId;
  const script = () => findScript(db, scriptId);
  const scripts = (filter: Parameters<typeof listScripts>[1], after?: ScriptId) => () =>
    listScripts(db, filter, after, pageSize);
  await measure('scripts', script, scripts({ groupIds }));
  await measure('scripts, deep', script, scripts({ groupIds }, scriptOf(100) as ScriptId));
  await measure('scripts: 4 groups', script, scripts(some));
  await measure('scripts: disabled (rare)', script, scripts({ groupIds, enabled: false }));
  await measure('scripts: by name, deep', script, () =>
    listScripts(db, { groupIds }, scriptOf(100) as ScriptId, pageSize, 'name'),
  );
  await measure('scripts: text of one', script, scripts({ groupIds, text: dormant.name }));

  const entry = () => db.selectFrom('audit').selectAll().where('audit_seq', '=', 77).execute();
  await measure('audit', entry, () =>
    listAudit(db, { groupIds: null }, { order: 'desc', after: undefined, limit: pageSize }),
  );
  await measure('audit, deep', entry, () =>
    listAudit(db, { groupIds: null }, { order: 'desc', after: 1000, limit: pageSize }),
  );

  const stream = `script-${scriptOf(1)}` as const;
  const event = () =>
    pool.query('SELECT * FROM events WHERE stream_id = $1 AND version = $2', [stream, 77]);
  await measure('history of a script', event, () =>
    readBackwards(pool, stream, undefined, pageSize),
  );
  await measure('history of a script, deep', event, () =>
    readBackwards(pool, stream, 100, pageSize),
  );
  await measure('events of a run', event, () => readStream(pool, `run-${logged}`, 1));

  const logs = new PostgresRunLogs(pool);
  const chunk = () => logs.readChunks(logged, 5000, 1);
  const lines = (fromSeq: number) => () => logs.read(logged, { fromSeq, limit: 50 });
  await measure('log of a run', chunk, lines(1));
  await measure('log of a run, deep', chunk, lines(150_000));
}

async function measure(
  name: string,
  lookUp: () => Promise<unknown>,
  list: () => Promise<unknown>,
): Promise<void> {
  const one: number[] = [];
  const page: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    one.push(await timed(lookUp));
    page.push(await timed(list));
  }
  const ratio = median(page) / median(one);
  const figures = `${median(page).toFixed(2)} ms / ${median(one).toFixed(2)} ms`;
  row(`list of ${name} / lookup by key`, `${ratio.toFixed(1)} (${figures})`, bar);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
