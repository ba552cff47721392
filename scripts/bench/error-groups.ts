import { isDeepStrictEqual } from 'node:util';
import { mustParse, parseRunId, parseScriptId, type ScriptId } from '#domain/kernel/ids.ts';
import type { FinishRun } from '#domain/run/commands.ts';
import { finishRun, runScript } from '#domain/testing/samples.ts';
import { rebuildProjection } from '#infra/postgres/rebuild/rebuild.ts';
import { systemIds } from '#infra/system/ids.ts';
import { listErrorGroups, type ErrorGroupRow } from '#projections/error-groups/queries.ts';
import { runsProjection } from '#projections/runs/apply.ts';
import { runErrorOf } from '#services/runtime/run-error.ts';
import { keptError } from '#services/shared/run-errors.ts';
import type { Platform } from '#services/shared/platform.ts';
import { compare, perSecond } from './compare.ts';
import { inParallel } from './complete-runs.ts';
import { context } from './context.ts';
import { onDatabase, platformOn } from './database.ts';
import { makeScript } from './make-script.ts';
import { row } from './report.ts';

const causes = 12;
const rounds = 4;
/** The number of failed runs per round. In total, including the warm-up round, there are 10,000. */
const runsEach = 2_000;
const lanes = 16;
const root = '/workspaces/bench';

/** Compares failed runs whose tracebacks have twelve different causes with failed runs that have no error. Then
 *  compares the error groups before and after a rebuild. */
export function benchErrorGroups(): Promise<void> {
  return onDatabase(async (database) => {
    const platform = await platformOn(database, 8);
    try {
      const scriptId = await makeScript(platform, mustParse(parseScriptId, systemIds.next()));
      const bench = { platform, scriptId };
      let number = 0;
      await compare({
        figure: 'runs with a traceback, from the request to the end / without',
        bar: '≥ 0.8',
        unit: 'runs/s',
        rounds,
        ours: () => failRuns(bench, () => traceback((number += 1))),
        theirs: () => failRuns(bench, () => undefined),
      });
      const before = await groupsOf(platform);
      const owner = database.open(2, 'admin');
      await rebuildProjection({ pool: owner, projection: runsProjection, kind: 'inline' });
      const isSame = isDeepStrictEqual(await groupsOf(platform), before);
      const failed = before.reduce((sum, { count }) => sum + count, 0);
      row('error groups of all failed runs', `${before.length} of ${failed} runs`, `${causes}`);
      row('the same groups after a rebuild', isSame ? 'yes' : 'no', 'yes');
    } finally {
      await platform.close();
    }
  });
}

interface Bench {
  readonly platform: Platform;
  readonly scriptId: ScriptId;
}

function failRuns(bench: Bench, errorText: () => string | undefined): Promise<number> {
  return perSecond(runsEach, () => inParallel(runsEach, lanes, () => failRun(bench, errorText())));
}

async function failRun(bench: Bench, errorText: string | undefined): Promise<void> {
  const { platform, scriptId } = bench;
  const { commands } = platform;
  const runId = mustParse(parseRunId, systemIds.next());
  await commands.execute(runScript({ runId, scriptId }), context());
  const start = { type: 'StartRun', runId, runtimeId: 'bench', layers: [] } as const;
  const started = await commands.execute(start, context());
  if (started.kind !== 'accepted') throw new Error('the run did not start');
  const fence = started.version;
  const ending = { outcome: 'exit_code', exitCode: 1, signal: null } as const;
  const end: FinishRun = finishRun({ runId, fence, ...ending });
  if (errorText === undefined) {
    await commands.execute(end, context());
    return;
  }
  const error = runErrorOf({ ending, note: undefined, errorText, workspace: root });
  if (error === undefined) throw new Error('the traceback was not read');
  const { content, fact } = keptError(error, scriptId);
  await commands.execute({ ...end, error: fact }, context(), content);
}

/**
 * Returns an error with one of twelve causes. Line numbers and values vary, as they would after edits or with different
 * data.
 */
function traceback(number: number): string {
  const cause = number % causes;
  return `Traceback (most recent call last):
  File "${root}/main.py", line ${number}, in <module>
    load_${cause}(row)
  File "${root}/lib/load.py", line ${number + 7}, in load_${cause}
    return float(row["${cause}"])
ValueError: could not convert string to float: 'value ${number}'`;
}

async function groupsOf({ reads }: Platform): Promise<readonly ErrorGroupRow[]> {
  const all = { groupIds: null, scriptId: null, status: null, since: null, text: null } as const;
  return await listErrorGroups(reads, all, undefined, 100);
}
