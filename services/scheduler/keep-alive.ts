/** Keeps one run of each always-on script active. */
import { deriveTimeOrderedId, mustParse, parseRunId, parseScriptId } from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import { systemContext, type Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { ReadModels } from '#projections/projection.ts';
import { idleScripts, type IdleScript } from '#projections/scripts/kept-alive.ts';
import { oneByOne } from './one-by-one.ts';

/** A run that lasts at least this long counts as a successful start. */
const steadyMs = 60_000;
const firstPauseMs = 1_000;
const maxPauseMs = 5 * 60_000;
const runsLookedAt = 10;

export interface KeepAliveDeps {
  readonly reads: ReadModels;
  readonly commands: Commands;
  readonly ids: Ids;
  readonly clock: Clock;
}

/** Starts the runs that are due. Each run ID is derived from the previous run, so two schedulers start only one run. A
 *  refused start means that another run has already started. */
export async function keepBotsAlive(deps: KeepAliveDeps): Promise<void> {
  const { clock, reads } = deps;
  await oneByOne(await idleScripts(reads, runsLookedAt), async (script) => {
    if (dueAtMs(script) <= clock.now().getTime()) await start(deps, script);
  });
}

/** Returns when the script's next run is due. Each short run of the current version doubles the pause. A change to the
 *  script resets the pause. */
export function dueAtMs({ version, last_runs: runs }: IdleScript): number {
  const [last] = runs;
  if (last === undefined || last.script_version !== version) return 0;
  const steady = runs.findIndex(
    (run) => run.script_version !== version || (run.duration_ms ?? 0) >= steadyMs,
  );
  const quick = steady === -1 ? runs.length : steady;
  const pauseMs = firstPauseMs * 2 ** Math.max(0, quick - 1);
  return Date.parse(last.finished_at) + Math.min(pauseMs, maxPauseMs);
}

async function start({ commands, ids }: KeepAliveDeps, script: IdleScript): Promise<void> {
  const [last] = script.last_runs;
  const cause = last?.run_id ?? script.script_id;
  const after = last === undefined ? script.updated_at : new Date(last.finished_at);
  const runId = deriveTimeOrderedId(ids.derived(cause, 'keep alive'), after);
  await commands.execute(
    {
      type: 'RunScript',
      runId: mustParse(parseRunId, runId),
      scriptId: mustParse(parseScriptId, script.script_id),
      trigger: { type: 'event', cause: 'keep_alive' },
      paramsSha256: null,
      timeoutSeconds: null,
    },
    systemContext('scheduler', ids.derived(runId, 'keep alive'), runId),
  );
}
