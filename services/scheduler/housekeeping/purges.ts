/** Removes all data of purged scripts except their events. An interrupted purge is repeated, because its completion is
 *  recorded last. */
import { mustParse, parseScriptId } from '#domain/kernel/ids.ts';
import { systemContext, type Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import { objectPrefix } from '#domain/ports/object-keys.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { removeLocks } from '#infra/postgres/operations/environment-locks.ts';
import { removeNoticesOfScript } from '#infra/postgres/operations/notice-removals.ts';
import { purgePayloads } from '#infra/postgres/event-store/payloads.ts';
import {
  databaseTime,
  paramsOfTriggers,
  runsOfScript,
  scriptsToPurge,
} from '#infra/postgres/operations/purges.ts';
import { areRemovedSince } from '#infra/postgres/queue/runtimes.ts';
import { removeLogs, removeReports, removeSamples } from '#infra/postgres/operations/removals.ts';
import { removeAllState } from '#infra/postgres/operations/script-state.ts';
import { removeMissesOfScript } from '#infra/postgres/operations/webhook-misses.ts';
import { destroyDataKey } from '#infra/secrets/data-keys.ts';
import { oneByOne } from '../one-by-one.ts';
import { removeObjects, type RemovableObjects } from './objects.ts';

const scriptsPerRound = 10;
const runsAtOnce = 100;
const removalPollMs = 2_000;

export interface PurgeDeps {
  readonly database: Queryable;
  readonly objects: RemovableObjects;
  readonly commands: Commands;
  readonly ids: Ids;
  /** For each script, the database time at which its purge was first noticed. The purge ends only after every runtime
   *  has removed its copy of the data since that time. */
  readonly removableSince: Map<string, string>;
}

/** Runs one round. A script waits for a later round if its parameters were used recently or if an active runtime may
 *  still have its data.
 *  @returns whether more work can be done immediately, or the time until the next round */
export async function purgeScripts(
  deps: PurgeDeps,
  signal: AbortSignal,
): Promise<boolean | { readonly inMs: number }> {
  const scriptIds = await scriptsToPurge(deps.database, scriptsPerRound);
  const { database, removableSince } = deps;
  const now = await databaseTime(database);
  for (const scriptId of scriptIds) {
    if (!removableSince.has(scriptId)) removableSince.set(scriptId, now);
  }
  let finished = 0;
  let waitsForRuntimes = false;
  await oneByOne(scriptIds, async (scriptId) => {
    if (!(await removeRemains(deps, scriptId, signal))) return;
    if (!(await areRemovedSince(database, removableSince.get(scriptId) ?? now))) {
      waitsForRuntimes = true;
      return;
    }
    await finish(deps, scriptId);
    removableSince.delete(scriptId);
    finished += 1;
  });
  return waitsForRuntimes ? { inMs: removalPollMs } : finished === scriptsPerRound;
}

/** Removes the script's data, starting with its data key. @returns whether all data has been removed */
async function removeRemains(
  { database, objects }: PurgeDeps,
  scriptId: string,
  signal: AbortSignal,
): Promise<boolean> {
  await destroyDataKey(database, scriptId);
  await removeLocks(database, scriptId);
  await removeAllState(database, scriptId);
  await removeNoticesOfScript(database, scriptId);
  await removeMissesOfScript(database, scriptId);
  await removeObjects(objects, objectPrefix.script(scriptId), signal);
  const given = await paramsOfTriggers(database, scriptId);
  let isDone = await purgePayloads(database, scriptId, given);
  for await (const runs of runsOfScript(database, scriptId, runsAtOnce)) {
    await removeLogs(database, runs, 'purge', signal);
    await removeSamples(database, runs, signal);
    await removeReports(database, runs);
    const hashes = new Set(runs.flatMap((run) => run.payloads));
    isDone = (await purgePayloads(database, scriptId, [...hashes])) && isDone;
    for (const run of runs) await removeObjects(objects, objectPrefix.run(run.run_id), signal);
  }
  return isDone;
}

async function finish({ commands, ids }: PurgeDeps, scriptId: string): Promise<void> {
  await commands.execute(
    { type: 'FinishPurge', scriptId: mustParse(parseScriptId, scriptId) },
    systemContext('scheduler', ids.derived(scriptId, 'FinishPurge'), scriptId),
  );
}
