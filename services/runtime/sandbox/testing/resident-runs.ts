/** Runs the fixture `resident.py` in resident processes. */
import { residentProgram } from '../../resident-run.ts';
import { sdkFolder } from '../../sdk/package.ts';
import type { ResidentRun, RunSpec } from '../sandbox.ts';
import type { Bench } from './bench.ts';

/** Returns the specification for a run whose handler receives `params`. */
export function residentSpec(
  bench: Bench,
  params: object = {},
  change: Partial<RunSpec> = {},
  resident: Partial<ResidentRun> = {},
  fixture = 'resident.py',
): RunSpec {
  const spec = bench.spec(fixture, [], change);
  return {
    ...spec,
    argv: [bench.python.executable, residentProgram, 'main.py'],
    env: {
      PYTHONUNBUFFERED: '1',
      PYTHONPATH: sdkFolder,
      ORCH_RUN_ID: spec.runId,
      ORCH_PARAMS: JSON.stringify(params),
      ...change.env,
    },
    readOnly: [...spec.readOnly, sdkFolder],
    resident: {
      revision: '1',
      idleSeconds: 600,
      maxRuns: 1_000,
      processes: 1,
      hold: () => () => undefined,
      log: { mask: () => undefined, maskedValues: () => [] },
      ...resident,
    },
  };
}

/** Executes one run, and waits for it to finish. */
export async function runResident(
  bench: Bench,
  ...spec: Parameters<typeof residentSpec> extends [unknown, ...infer Rest] ? Rest : never
) {
  const running = await bench.start(residentSpec(bench, ...spec));
  const outcome = await running.outcome();
  await outcome.run.closed;
  return outcome;
}
