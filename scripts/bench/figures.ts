/** Measures the dashboard's statistics over a long history, compared with a scan of all runs in the last 24 hours of
 *  that history. */
import { performance } from 'node:perf_hooks';
import { deriveTimeOrderedId, type GroupId } from '#domain/kernel/ids.ts';
import { openDatabase, queryBuilder } from '#infra/postgres/database.ts';
import { activeNow, figuresByTime, figuresOfDay } from '#projections/figures/queries.ts';
import { quantile } from '#projections/figures/histogram.ts';
import { countScripts } from '#projections/scripts/search.ts';
import type { Tables } from '#projections/tables.ts';
import type pg from 'pg';
import { endsAt, groupOf, quiet } from './long-history.ts';
import { median, row } from './report.ts';

const rounds = 15;
const day = 24 * 60 * 60 * 1000;
/** The lowest run ID of the last 24 hours. IDs sort by time. */
const firstOfDay = deriveTimeOrderedId(quiet.group, new Date(endsAt.getTime() - day));
const scan = `SELECT count(*), count(*) FILTER (WHERE status = 'failed') AS failed,
  percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY duration_ms) AS durations,
  percentile_disc(0.95) WITHIN GROUP (ORDER BY started_at - queued_at) AS wait
  FROM runs WHERE run_id >= $1`;

/** @param url the URL of the database with the history */
export async function measureFigures(url: string): Promise<void> {
  const database = openDatabase(url, {
    connections: 4,
    applicationName: 'bench',
    onIdleError: () => undefined,
  });
  const { pool } = database;
  const db = queryBuilder<Tables>(pool);
  const stats = (groups: readonly GroupId[] | null) => async () => {
    const [, , { durations, waits }] = await Promise.all([
      countScripts(db, groups),
      activeNow(db, groups),
      figuresOfDay(db, groups, endsAt),
    ]);
    return [quantile(durations, 0.5), quantile(durations, 0.95), quantile(waits, 0.95)];
  };
  const wanted = { from: new Date(endsAt.getTime() - day), to: endsAt, length: 900 } as const;
  const four = [1, 2, 3, 4].map((number) => groupOf(number) as GroupId);
  try {
    await measure('figures of 24 hours', pool, stats(null));
    await measure('figures of 24 hours, 4 groups', pool, stats(four));
    await measure('a series of 24 hours', pool, () => figuresByTime(db, null, wanted));
  } finally {
    await database.close();
  }
}

async function measure(name: string, pool: pg.Pool, ours: () => Promise<unknown>): Promise<void> {
  const counted: number[] = [];
  const scanned: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    counted.push(await timed(ours));
    scanned.push(await timed(() => pool.query(scan, [firstOfDay])));
  }
  const ratio = median(counted) / median(scanned);
  const figures = `${median(counted).toFixed(1)} ms / ${median(scanned).toFixed(0)} ms`;
  row(`dashboard: ${name} / scan of the runs`, `${ratio.toFixed(4)} (${figures})`, '≤ 0.01');
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
