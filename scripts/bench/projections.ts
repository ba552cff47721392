import { startOfStore, type Position } from '#domain/kernel/event.ts';
import { readAll } from '#infra/postgres/event-store/event-store.ts';
import { Projector } from '#infra/postgres/readers/projector.ts';
import { rebuildProjection } from '#infra/postgres/rebuild/rebuild.ts';
import { auditProjection } from '#projections/audit/apply.ts';
import { runQueueProjection } from '#projections/run-queue/apply.ts';
import { runsProjection } from '#projections/runs/apply.ts';
import type pg from 'pg';
import { compare, perSecond } from './compare.ts';
import { onDatabase } from './database.ts';
import { makeRuns } from './history.ts';

const runs = 10_000;
const events = 3 * runs;
/** The page size for reading the whole event store. */
const pageSize = 2_000;
const rounds = 7;

const rebuilt = [
  { projection: auditProjection, kind: 'async' },
  { projection: runsProjection, kind: 'inline' },
  { projection: runQueueProjection, kind: 'inline' },
] as const;

/** Measures projections, compared with their lower bound. The lower bound is the time to read the events one by one
 *  with the store's reader, parsed and upgraded to the current version. */
export function benchProjections(): Promise<void> {
  return onDatabase(async (database) => {
    const [pool, owner] = [database.open(2), database.open(2, 'admin')];
    await makeRuns(pool, runs, 'finished');
    await owner.query('VACUUM ANALYZE');
    const reading = {
      theirs: () => perSecond(events, () => readEverything(pool)),
      unit: '/s',
      rounds,
    };
    await compare({
      figure: 'incremental projection, events/s / reading the events only',
      bar: '≥ 0.6',
      ours: () => projecting(pool, owner),
      ...reading,
    });
    for (const { projection, kind } of rebuilt) {
      await compare({
        figure: `rebuild of ${projection.name}, events/s / reading the events only`,
        bar: '≥ 2.5',
        ours: () => perSecond(events, () => rebuildProjection({ pool: owner, projection, kind })),
        ...reading,
      });
    }
  });
}

async function readEverything(pool: pg.Pool): Promise<void> {
  let seen = 0;
  for (let after: Position | undefined = startOfStore; after !== undefined;) {
    const page = await readAll(pool, after, pageSize);
    seen += page.length;
    after = page.at(-1)?.position;
  }
  if (seen !== events) throw new Error(`${seen} events of ${events} were read`);
}

/** Measures the projection of the audit list from the beginning of the store. */
async function projecting(pool: pg.Pool, owner: pg.Pool): Promise<number> {
  await owner.query('TRUNCATE audit');
  await owner.query('DELETE FROM checkpoints');
  const projector = new Projector(pool, [auditProjection]);
  return await perSecond(events, () => projector.runOnce(new AbortController().signal));
}
