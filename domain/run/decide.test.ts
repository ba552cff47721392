// Long because it tests every decision about a run.
import { given } from '#domain/testing/given.ts';
import { groupId, runId, scheduleId, scriptId } from '#domain/testing/ids.ts';
import {
  finishRun,
  runFinished,
  runQueued,
  runScript,
  runStarted,
  scriptFacts,
} from '#domain/testing/samples.ts';
import { defaultLimits } from '#domain/script/settings.ts';
import { describe, expect, test } from 'vitest';
import { runAggregate } from './decide.ts';
import type { RunEvent } from './events.ts';
import { failures, noTotals, statusOf, type Failure } from './run.ts';

const id = { runId: runId() };
const start = { type: 'StartRun', ...id, runtimeId: 'runtime-1', layers: ['rlimits'] } as const;
const stop = { type: 'StopRun', ...id } as const;
const abandon = {
  type: 'AbandonRun',
  ...id,
  failure: 'environment_error',
  totals: { ...noTotals, logLines: 2, logBytes: 9 },
} as const;
const stopRequested: RunEvent = {
  type: 'RunStopRequested',
  data: { ...id, scriptId: scriptId() },
};

describe('a new run', () => {
  const nothing = given(runAggregate);

  test("of an enabled script is queued with the script's current settings", () => {
    const script = scriptFacts({ name: 'Job', version: 7, entrypoint: 'job.py' });
    nothing
      .when(runScript(), script)
      .thenRecords(runQueued({ scriptName: 'Job', scriptVersion: 7, entrypoint: 'job.py' }));
  });

  test('uses the limits of its script, and the default values of all other limits', () => {
    nothing
      .when(runScript(), scriptFacts({ limits: { cpu_seconds: 5, memory_bytes: null } }))
      .thenRecords(runQueued({ limits: { ...defaultLimits, cpu_seconds: 5, memory_bytes: null } }));
  });

  test('uses the settings of the original run when it is an exact rerun', () => {
    const limits = { ...defaultLimits, cpu_seconds: 5 };
    const plan = { scriptVersion: 3, entrypoint: 'old.py', limits };
    nothing.when(runScript({ plan }), scriptFacts({ version: 9 })).thenRecords(runQueued(plan));
    const sooner = { ...plan, limits: { ...limits, wall_clock_seconds: 9 } };
    nothing
      .when(runScript({ plan, timeoutSeconds: 9 }), scriptFacts({ version: 9 }))
      .thenRecords(runQueued(sooner));
  });

  test('has the current labels of its script, even when it is an exact rerun', () => {
    const script = scriptFacts({ runsOn: ['gpu', 'zone-b'] });
    nothing.when(runScript(), script).thenRecords(runQueued({ runsOn: ['gpu', 'zone-b'] }));
    const plan = { scriptVersion: 3, entrypoint: 'old.py', limits: defaultLimits };
    nothing
      .when(runScript({ plan }), script)
      .thenRecords(runQueued({ ...plan, runsOn: ['gpu', 'zone-b'] }));
  });

  test('of a schedule is queued only once per due time', () => {
    const trigger = {
      type: 'schedule',
      scheduleId: scheduleId(),
      dueAt: '2026-01-01T01:00:00.000Z',
      outcome: 'fired',
    } as const;
    const facing = (over: boolean, active: boolean, enabled = true) => ({
      ...scriptFacts({ maxConcurrentRuns: 9 }),
      schedule: { enabled, active, servedUntil: `2026-01-01T0${over ? 1 : 0}:00:00.000Z` },
    });
    const due = runScript({ trigger, unlessOverlapping: true });
    nothing.when(due, facing(false, false)).thenRecords(runQueued({ trigger }));
    nothing.when(due, facing(false, true)).thenRefuses('run_overlaps');
    nothing.when(due, facing(true, false)).thenRefuses('already_exists');
    nothing.when(due, facing(false, false, false)).thenRefuses('already_exists');
    nothing.when(due, scriptFacts()).thenRefuses('already_exists');
    nothing.when(runScript({ trigger }), facing(false, true)).thenRecords(runQueued({ trigger }));
    const inTurn = { ...trigger, afterPrevious: true } as const;
    const turn = runScript({ trigger: inTurn, whenBusy: 'queue' });
    nothing.when(turn, facing(false, false)).thenRecords(runQueued({ trigger: inTurn }));
    const held = runQueued({ trigger: inTurn, waiting: true });
    nothing.when(turn, facing(false, true)).thenRecords(held);
  });

  test('of a backfill is queued if its due time is settled and no run was started', () => {
    const dueAt = '2026-01-01T01:00:00.000Z';
    const trigger = { type: 'schedule', scheduleId: scheduleId(), dueAt } as const;
    const backfill = runScript({ trigger: { ...trigger, outcome: 'backfilled' } });
    const facing = (servedUntil: string, dueTimeHasRun: boolean, enabled = true) => ({
      ...scriptFacts(),
      schedule: { enabled, active: false, servedUntil },
      dueTimeHasRun,
    });
    const queued = runQueued({ trigger: backfill.trigger });
    nothing.when(backfill, facing(dueAt, false)).thenRecords(queued);
    nothing.when(backfill, facing(dueAt, false, false)).thenRecords(queued);
    nothing.when(backfill, facing(dueAt, true)).thenRefuses('already_exists');
    nothing.when(backfill, facing('2026-01-01T00:59:59.999Z', false)).thenRefuses('already_exists');
    nothing.when(backfill, scriptFacts()).thenRefuses('already_exists');
  });

  test('in a pool waits for its release even if the request does not allow waiting', () => {
    const script = scriptFacts({ pools: ['crm-api'] });
    nothing.when(runScript(), script).thenRecords(runQueued({ pools: ['crm-api'], waiting: true }));
  });

  test('waits if no slot is free and waiting is allowed', () => {
    const full = scriptFacts({ activeRuns: 1 });
    nothing.when(runScript(), full).thenRefuses('concurrency_limit_reached');
    nothing.when(runScript({ whenBusy: 'queue' }), full).thenRecords(runQueued({ waiting: true }));
  });

  test('does not overtake waiting runs', () => {
    const next = scriptFacts({ waitingRuns: 1 });
    nothing.when(runScript(), next).thenRefuses('concurrency_limit_reached');
    nothing.when(runScript({ whenBusy: 'queue' }), next).thenRecords(runQueued({ waiting: true }));
  });

  test('can start immediately if there are enough slots for the run and all waiting runs', () => {
    const roomy = scriptFacts({ maxConcurrentRuns: 4, activeRuns: 1, waitingRuns: 2 });
    nothing.when(runScript(), roomy).thenRecords(runQueued());
    const tight = scriptFacts({ maxConcurrentRuns: 4, activeRuns: 2, waitingRuns: 2 });
    nothing.when(runScript(), tight).thenRefuses('concurrency_limit_reached');
  });

  test('waits until its start time even if a slot is free', () => {
    const notBefore = '2026-01-01T00:00:10.000Z';
    nothing
      .when(
        runScript({ whenBusy: 'queue', notBefore, attempt: 2, parentRunId: runId(9) }),
        scriptFacts(),
      )
      .thenRecords(runQueued({ waiting: true, notBefore, attempt: 2, parentRunId: runId(9) }));
  });

  test('uses the requested time limit', () => {
    nothing
      .when(runScript({ timeoutSeconds: 9 }), scriptFacts())
      .thenRecords(runQueued({ limits: { ...defaultLimits, wall_clock_seconds: 9 } }));
  });

  test('records the hash of its parameters', () => {
    const paramsSha256 = 'a'.repeat(64);
    nothing
      .when(runScript({ paramsSha256 }), scriptFacts())
      .thenRecords(runQueued({ paramsSha256 }));
  });

  test('of an unknown or deleted script is refused', () => {
    nothing.when(runScript(), undefined).thenRefuses('not_found');
    nothing.when(runScript(), scriptFacts({ deleted: true })).thenRefuses('not_found');
  });

  test('of a disabled script is refused', () => {
    nothing.when(runScript(), scriptFacts({ enabled: false })).thenRefuses('script_disabled');
  });

  test.each([
    [1, 1],
    [3, 3],
    [3, 4],
  ])(
    'is refused at the concurrency limit (limit: %i, active runs: %i)',
    (maxConcurrentRuns, activeRuns) => {
      nothing
        .when(runScript(), scriptFacts({ maxConcurrentRuns, activeRuns }))
        .thenRefuses('concurrency_limit_reached');
    },
  );

  test('is queued if the concurrency limit permits one more run', () => {
    nothing
      .when(runScript(), scriptFacts({ maxConcurrentRuns: 3, activeRuns: 2, groupId: groupId(2) }))
      .thenRecords(runQueued({ groupId: groupId(2) }));
  });

  test.each([start, stop, finishRun(), abandon])(
    'refuses $type with not_found before it is requested',
    (command) => {
      nothing.when(command).thenRefuses('not_found');
    },
  );
});

describe('a queued run', () => {
  const queued = given(runAggregate, runQueued());

  test('records nothing when requested again, even if the script changed', () => {
    queued.when(runScript(), scriptFacts({ activeRuns: 1 })).thenRecordsNothing();
    queued.when(runScript(), scriptFacts({ enabled: false })).thenRecordsNothing();
    queued.when(runScript(), undefined).thenRecordsNothing();
  });

  test('records its start', () => {
    queued.when(start).thenRecords(runStarted());
  });

  test('finishes immediately when it is stopped', () => {
    queued
      .when(stop)
      .thenRecords(runFinished({ outcome: 'stopped', exitCode: null, totals: noTotals }));
  });

  test.each([0, 1, 2])('refuses a report with fence %i', (fence) => {
    queued.when(finishRun({ fence })).thenRefuses('run_fenced');
  });

  test.each(['environment_error', 'sandbox_error', 'expired'] as const)(
    'fails with %s when it is abandoned, and records its log totals',
    (failure) => {
      queued
        .when({ ...abandon, failure })
        .thenRecords(runFinished({ outcome: failure, exitCode: null, totals: abandon.totals }));
    },
  );
});

describe('a running run', () => {
  const running = given(runAggregate, runQueued(), runStarted());

  test('refuses a start by another runtime', () => {
    running.when({ ...start, runtimeId: 'runtime-2' }).thenRefuses('run_fenced');
  });

  test('refuses a second start by the same runtime, so that only one process is started', () => {
    running.when(start).thenRefuses('run_fenced');
  });

  test('finishes when its runtime reports the outcome', () => {
    running.when(finishRun()).thenRecords(runFinished());
  });

  test.each(failures)('records the outcome %s', (outcome) => {
    const end = { outcome, exitCode: null, signal: 'SIGKILL' };
    running.when(finishRun(end)).thenRecords(runFinished(end));
  });

  test.each([0, 1, 3])('refuses a report with fence %i', (fence) => {
    running.when(finishRun({ fence })).thenRefuses('run_fenced');
  });

  test('records a stop request for its runtime', () => {
    running.when(stop).thenRecords(stopRequested);
  });

  test('refuses to be abandoned', () => {
    running.when(abandon).thenRefuses('run_fenced');
  });
});

describe('a run with a stop request', () => {
  const stopping = given(runAggregate, runQueued(), runStarted(), stopRequested);

  test('records nothing when a stop is requested again', () => {
    stopping.when(stop).thenRecordsNothing();
  });

  test('accepts the report from its runtime if the report has the fence from the start', () => {
    const end = { outcome: 'stopped', exitCode: null, signal: 'SIGTERM' } as const;
    stopping.when(finishRun(end)).thenRecords(runFinished(end));
    stopping.when(finishRun({ ...end, fence: 3 })).thenRefuses('run_fenced');
  });
});

describe.each([
  ['success', [runQueued(), runStarted(), runFinished()]],
  ['stopped', [runQueued(), runFinished({ outcome: 'stopped' })]],
  ['runtime_lost', [runQueued(), runStarted(), runFinished({ outcome: 'runtime_lost' })]],
] as const)('a run that ended with %s', (_, history) => {
  const ended = given(runAggregate, ...history);

  test('refuses a stop because it is not active', () => {
    ended.when(stop).thenRefuses('run_not_active');
  });

  test('refuses a start', () => {
    ended.when(start).thenRefuses('run_fenced');
  });

  test.each([
    finishRun(),
    finishRun({ outcome: 'runtime_lost', exitCode: null }),
    finishRun({ fence: 9 }),
    abandon,
  ])('ignores later finish and abandon commands: %j', (command) => {
    ended.when(command).thenRecordsNothing();
  });

  test('records nothing when requested again', () => {
    ended.when(runScript(), scriptFacts()).thenRecordsNothing();
  });
});

test('the status of a run is failed if and only if its outcome is a failure', () => {
  expect(failures.map((failure: Failure) => statusOf(failure))).toEqual(
    failures.map(() => 'failed'),
  );
  expect([statusOf('success'), statusOf('stopped')]).toEqual(['success', 'stopped']);
});

describe('a run that waits for a slot', () => {
  const waiting = given(runAggregate, runQueued({ waiting: true }));
  const release = { type: 'ReleaseRun', ...id, scriptId: scriptId() } as const;
  const released: RunEvent = { type: 'RunReleased', data: { ...id, scriptId: scriptId() } };

  test('can be released when a slot is free', () => {
    waiting.when(release, scriptFacts({ waitingRuns: 5 })).thenRecords(released);
  });

  test('is not released if there is no free slot, or if its script was disabled or deleted', () => {
    const full = scriptFacts({ activeRuns: 1 });
    waiting.when(release, full).thenRefuses('concurrency_limit_reached');
    waiting.when(release, scriptFacts({ enabled: false })).thenRefuses('script_disabled');
    waiting.when(release, scriptFacts({ deleted: true })).thenRefuses('not_found');
    waiting.when(release, undefined).thenRefuses('not_found');
  });

  test('refuses a start before its release', () => {
    waiting.when(start, undefined).thenRefuses('run_fenced');
    given(runAggregate, runQueued({ waiting: true }), released)
      .when(start, undefined)
      .thenRecords(runStarted());
  });

  test('finishes when it is stopped or expires', () => {
    const end = { exitCode: null, signal: null, totals: noTotals };
    waiting.when(stop, undefined).thenRecords(runFinished({ ...end, outcome: 'stopped' }));
    waiting
      .when({ ...abandon, failure: 'expired', totals: noTotals }, undefined)
      .thenRecords(runFinished({ ...end, outcome: 'expired' }));
  });

  test('ignores another release', () => {
    const full = scriptFacts({ activeRuns: 1 });
    given(runAggregate, runQueued()).when(release, full).thenRecordsNothing();
    given(runAggregate, runQueued(), runStarted()).when(release, full).thenRecordsNothing();
    given(runAggregate, runQueued(), runFinished()).when(release, full).thenRecordsNothing();
    given(runAggregate).when(release, scriptFacts()).thenRefuses('not_found');
  });
});
