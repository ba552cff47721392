/** Checks scripts' expectations, and records which are missed and which are met again. */
import { minUsualRuns, missedExpectations } from '#domain/expectation/check.ts';
import { missedKey, type MissedExpectation } from '#domain/expectation/expectation.ts';
import { mustParse, parseRunId, parseScriptId } from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import { systemContext, type Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import { expectationKey } from '#domain/script/expectations.ts';
import { scriptsToCheck, type CheckedScript } from '#projections/expectations/queries.ts';
import type { ReadModels } from '#projections/projection.ts';
import { readDurationStats, type DurationStats } from '#projections/runs/duration-stats.ts';
import { oneByOne } from './one-by-one.ts';

export interface ExpectationDeps {
  readonly reads: ReadModels;
  readonly commands: Commands;
  readonly ids: Ids;
  readonly clock: Clock;
}

/** Runs one check. The result is discarded if another scheduler has recorded a result since this check read its
 *  data. */
export async function checkExpectations(deps: ExpectationDeps): Promise<void> {
  const scripts = await scriptsToCheck(deps.reads);
  const usual = await readDurationStats(
    deps.reads,
    scripts.filter(limitsDurations).map((script) => script.script_id),
  );
  const now = deps.clock.now();
  await oneByOne(scripts, async (script) => {
    const missed = missesOf(script, usual.get(script.script_id), now);
    if (!isSame(missed, script.missed)) await note(deps, script, missed);
  });
}

function limitsDurations({ expectations, running }: CheckedScript): boolean {
  return running.length > 0 && expectations.some(({ kind }) => kind === 'longer_than');
}

function missesOf(
  { expectations, expectations_since, last_success_at, running }: CheckedScript,
  usual: DurationStats | undefined,
  now: Date,
): readonly MissedExpectation[] {
  const facts = {
    since: expectations_since ?? now,
    lastSuccessAt: last_success_at,
    running: running.map(({ run_id, started_at }) => ({
      runId: mustParse(parseRunId, run_id),
      startedAt: new Date(started_at),
    })),
    p95Ms: usual !== undefined && usual.runs >= minUsualRuns ? usual.p95_ms : null,
  };
  return missedExpectations(expectations, facts, now);
}

function isSame(one: readonly MissedExpectation[], other: readonly MissedExpectation[]): boolean {
  const keys = new Set(one.map(missedKey));
  return keys.size === other.length && other.every((missed) => keys.has(missedKey(missed)));
}

async function note(
  { commands, ids }: ExpectationDeps,
  { script_id, expectations, seen }: CheckedScript,
  missed: readonly MissedExpectation[],
): Promise<void> {
  await commands.execute(
    {
      type: 'NoteExpectations',
      scriptId: mustParse(parseScriptId, script_id),
      missed,
      checked: expectations.map(expectationKey),
      seen,
    },
    systemContext('scheduler', ids.next(), script_id),
  );
}
