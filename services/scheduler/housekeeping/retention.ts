/** Removes expired data in bounded steps. The progress is recorded last, and repeating a partial removal is
 *  harmless. */
import type { Clock } from '#domain/ports/clock.ts';
import { objectPrefix } from '#domain/ports/object-keys.ts';
import { removableKinds, type RemovableKind } from '#domain/system/retention.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { sweepPayloads } from '#infra/postgres/event-store/payloads.ts';
import {
  advance,
  dueRuns,
  nextRuns,
  removeLogs,
  removeReports,
  removeSamples,
  settle,
  type EndedRun,
  type KindOfRun,
  type PassedRun,
} from '#infra/postgres/operations/removals.ts';
import { forgetMissedPayloads } from '#infra/postgres/operations/webhook-misses.ts';
import type { ReadModels } from '#projections/projection.ts';
import { daysKept } from '#projections/retention/queries.ts';
import { oneByOne } from '../one-by-one.ts';
import { removeObjects, type RemovableObjects } from './objects.ts';

const runsAtOnce = 100;
const payloadsPerBatch = 500;
const dayMs = 24 * 60 * 60 * 1000;

export interface RetentionDeps {
  readonly database: Queryable;
  readonly reads: ReadModels;
  readonly objects: RemovableObjects;
  readonly clock: Clock;
}

/** Runs one round. @returns whether more data may be expired */
export async function removeOutdated(deps: RetentionDeps, signal: AbortSignal): Promise<boolean> {
  const days = await daysKept(deps.reads);
  let more = false;
  await oneByOne(removableKinds, async (kind) => {
    const kept = days[kind];
    if (kept === null) return;
    const before = new Date(deps.clock.now().getTime() - kept * dayMs);
    more = (await removeKind(deps, kind, before, signal)) || more;
  });
  return more;
}

async function removeKind(
  deps: RetentionDeps,
  kind: RemovableKind,
  before: Date,
  signal: AbortSignal,
): Promise<boolean> {
  if (kind === 'payloads') {
    const swept = await sweepPayloads(deps.database, before, payloadsPerBatch);
    const forgotten = await forgetMissedPayloads(deps.database, before, payloadsPerBatch);
    return swept === payloadsPerBatch || forgotten === payloadsPerBatch;
  }
  const hasPassedMany = await passRuns(deps, kind, before, signal);
  return (await stripLateRuns(deps, kind, before, signal)) || hasPassedMany;
}

/** Checks the next runs in ID order. Runs that are active or ended recently are noted for a later check. */
async function passRuns(
  deps: RetentionDeps,
  kind: KindOfRun,
  before: Date,
  signal: AbortSignal,
): Promise<boolean> {
  const { database } = deps;
  const runs = await nextRuns(database, kind, before, runsAtOnce);
  const last = runs.at(-1);
  if (last === undefined) return false;
  const isOver = (run: PassedRun): run is EndedRun =>
    run.finished_at !== null && run.finished_at < before;
  await strip(deps, kind, runs.filter(isOver), signal);
  const later = runs.filter((run) => !isOver(run)).map((run) => run.run_id);
  await advance(database, kind, last.run_id, later);
  return runs.length === runsAtOnce;
}

async function stripLateRuns(
  deps: RetentionDeps,
  kind: KindOfRun,
  before: Date,
  signal: AbortSignal,
): Promise<boolean> {
  const { database } = deps;
  const runs = await dueRuns(database, kind, before, runsAtOnce);
  if (runs.length === 0) return false;
  await strip(deps, kind, runs, signal);
  await settle(
    database,
    kind,
    runs.map((run) => run.run_id),
  );
  return runs.length === runsAtOnce;
}

async function strip(
  { database, objects }: RetentionDeps,
  kind: KindOfRun,
  runs: readonly EndedRun[],
  signal: AbortSignal,
): Promise<void> {
  switch (kind) {
    case 'logs':
      return await removeLogs(database, runs, 'retention', signal);
    case 'samples':
      return await removeSamples(database, runs, signal);
    case 'artifacts':
      await removeReports(database, runs);
      for (const run of runs) {
        await removeObjects(objects, objectPrefix.runArtifacts(run.run_id), signal);
      }
  }
}
