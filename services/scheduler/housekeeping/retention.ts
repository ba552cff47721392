/** Removes expired data (contract §3, "Configuration"), a bounded part at a time. Repeating a partial removal is
 *  harmless: the progress is recorded last. */
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
const payloadsAtOnce = 500;
const dayMs = 24 * 60 * 60 * 1000;

export interface RetentionParts {
  readonly database: Queryable;
  readonly reads: ReadModels;
  readonly objects: RemovableObjects;
  readonly clock: Clock;
}

/** One round. @returns whether there may be more */
export async function removeOutdated(parts: RetentionParts, signal: AbortSignal): Promise<boolean> {
  const days = await daysKept(parts.reads);
  let more = false;
  await oneByOne(removableKinds, async (kind) => {
    const kept = days[kind];
    if (kept === null) return;
    const before = new Date(parts.clock.now().getTime() - kept * dayMs);
    more = (await removeKind(parts, kind, before, signal)) || more;
  });
  return more;
}

async function removeKind(
  parts: RetentionParts,
  kind: RemovableKind,
  before: Date,
  signal: AbortSignal,
): Promise<boolean> {
  if (kind === 'payloads') {
    const swept = await sweepPayloads(parts.database, before, payloadsAtOnce);
    const forgotten = await forgetMissedPayloads(parts.database, before, payloadsAtOnce);
    return swept === payloadsAtOnce || forgotten === payloadsAtOnce;
  }
  const hasPassedMany = await passRuns(parts, kind, before, signal);
  return (await stripLateRuns(parts, kind, before, signal)) || hasPassedMany;
}

/** Looks at the next runs, of which those that ended later are left for later. */
async function passRuns(
  parts: RetentionParts,
  kind: KindOfRun,
  before: Date,
  signal: AbortSignal,
): Promise<boolean> {
  const { database } = parts;
  const runs = await nextRuns(database, kind, before, runsAtOnce);
  const last = runs.at(-1);
  if (last === undefined) return false;
  const isOver = (run: PassedRun): run is EndedRun =>
    run.finished_at !== null && run.finished_at < before;
  await strip(parts, kind, runs.filter(isOver), signal);
  const later = runs.filter((run) => !isOver(run)).map((run) => run.run_id);
  await advance(database, kind, last.run_id, later);
  return runs.length === runsAtOnce;
}

async function stripLateRuns(
  parts: RetentionParts,
  kind: KindOfRun,
  before: Date,
  signal: AbortSignal,
): Promise<boolean> {
  const { database } = parts;
  const runs = await dueRuns(database, kind, before, runsAtOnce);
  if (runs.length === 0) return false;
  await strip(parts, kind, runs, signal);
  await settle(
    database,
    kind,
    runs.map((run) => run.run_id),
  );
  return runs.length === runsAtOnce;
}

async function strip(
  { database, objects }: RetentionParts,
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
