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

describe('given no run', () => {
  const nothing = given(runAggregate);

  test('when an enabled script is to run, then it is queued as the script is now', () => {
    const script = scriptFacts({ name: 'Job', version: 7, entrypoint: 'job.py' });
    nothing
      .when(runScript(), script)
      .thenRecords(runQueued({ scriptName: 'Job', scriptVersion: 7, entrypoint: 'job.py' }));
  });

  test('when the script has its own limits, then the rest are the defaults', () => {
    nothing
      .when(runScript(), scriptFacts({ limits: { cpu_seconds: 5, memory_bytes: null } }))
      .thenRecords(runQueued({ limits: { ...defaultLimits, cpu_seconds: 5, memory_bytes: null } }));
  });

  test('when it is to run as an earlier run did, then it does, whatever the script is now', () => {
    const limits = { ...defaultLimits, cpu_seconds: 5 };
    const plan = { scriptVersion: 3, entrypoint: 'old.py', limits };
    nothing.when(runScript({ plan }), scriptFacts({ version: 9 })).thenRecords(runQueued(plan));
    const sooner = { ...plan, limits: { ...limits, wall_clock_seconds: 9 } };
    nothing
      .when(runScript({ plan, timeoutSeconds: 9 }), scriptFacts({ version: 9 }))
      .thenRecords(runQueued(sooner));
  });

  test('when its schedule is due, then it is queued, once for each due time', () => {
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

  test('when every slot is taken, then it waits where it may', () => {
    const full = scriptFacts({ activeRuns: 1 });
    nothing.when(runScript(), full).thenRefuses('concurrency_limit_reached');
    nothing.when(runScript({ whenBusy: 'queue' }), full).thenRecords(runQueued({ waiting: true }));
  });

  test('when others wait already, then it does not overtake them', () => {
    const next = scriptFacts({ waitingRuns: 1 });
    nothing.when(runScript(), next).thenRefuses('concurrency_limit_reached');
    nothing.when(runScript({ whenBusy: 'queue' }), next).thenRecords(runQueued({ waiting: true }));
  });

  test('when there are slots for those who wait and for one more, then it may start', () => {
    const roomy = scriptFacts({ maxConcurrentRuns: 4, activeRuns: 1, waitingRuns: 2 });
    nothing.when(runScript(), roomy).thenRecords(runQueued());
    const tight = scriptFacts({ maxConcurrentRuns: 4, activeRuns: 2, waitingRuns: 2 });
    nothing.when(runScript(), tight).thenRefuses('concurrency_limit_reached');
  });

  test('when it is not to start before a time, then it waits, though there is a slot', () => {
    const notBefore = '2026-01-01T00:00:10.000Z';
    nothing
      .when(
        runScript({ whenBusy: 'queue', notBefore, attempt: 2, parentRunId: runId(9) }),
        scriptFacts(),
      )
      .thenRecords(runQueued({ waiting: true, notBefore, attempt: 2, parentRunId: runId(9) }));
  });

  test('when a time limit is asked for, then it is the run’s', () => {
    nothing
      .when(runScript({ timeoutSeconds: 9 }), scriptFacts())
      .thenRecords(runQueued({ limits: { ...defaultLimits, wall_clock_seconds: 9 } }));
  });

  test('when parameters are given, then their hash is recorded', () => {
    const paramsSha256 = 'a'.repeat(64);
    nothing
      .when(runScript({ paramsSha256 }), scriptFacts())
      .thenRecords(runQueued({ paramsSha256 }));
  });

  test('when there is no such script, or no longer, then it is refused', () => {
    nothing.when(runScript(), undefined).thenRefuses('not_found');
    nothing.when(runScript(), scriptFacts({ deleted: true })).thenRefuses('not_found');
  });

  test('when the script is disabled, then it is refused', () => {
    nothing.when(runScript(), scriptFacts({ enabled: false })).thenRefuses('script_disabled');
  });

  test.each([
    [1, 1],
    [3, 3],
    [3, 4],
  ])(
    'when of %i runs at most there are %i, then it is refused',
    (maxConcurrentRuns, activeRuns) => {
      nothing
        .when(runScript(), scriptFacts({ maxConcurrentRuns, activeRuns }))
        .thenRefuses('concurrency_limit_reached');
    },
  );

  test('when one more fits, then it is queued', () => {
    nothing
      .when(runScript(), scriptFacts({ maxConcurrentRuns: 3, activeRuns: 2, groupId: groupId(2) }))
      .thenRecords(runQueued({ groupId: groupId(2) }));
  });

  test.each([start, stop, finishRun(), abandon])(
    'when it is asked to $type, then there is no such run',
    (command) => {
      nothing.when(command).thenRefuses('not_found');
    },
  );
});

describe('given a queued run', () => {
  const queued = given(runAggregate, runQueued());

  test('when it is asked for again, then nothing is recorded, whatever became of the script', () => {
    queued.when(runScript(), scriptFacts({ activeRuns: 1 })).thenRecordsNothing();
    queued.when(runScript(), scriptFacts({ enabled: false })).thenRecordsNothing();
    queued.when(runScript(), undefined).thenRecordsNothing();
  });

  test('when a runtime starts it, then that is recorded', () => {
    queued.when(start).thenRecords(runStarted());
  });

  test('when it is stopped, then it ends at once', () => {
    queued
      .when(stop)
      .thenRecords(runFinished({ outcome: 'stopped', exitCode: null, totals: noTotals }));
  });

  test.each([0, 1, 2])('when a report with fence %i comes, then it is fenced', (fence) => {
    queued.when(finishRun({ fence })).thenRefuses('run_fenced');
  });

  test.each(['environment_error', 'sandbox_error', 'expired'] as const)(
    'when it is given up for %s, then it has failed so, with the log it has',
    (failure) => {
      queued
        .when({ ...abandon, failure })
        .thenRecords(runFinished({ outcome: failure, exitCode: null, totals: abandon.totals }));
    },
  );
});

describe('given a run that was started', () => {
  const running = given(runAggregate, runQueued(), runStarted());

  test('when another runtime starts it, then it is fenced', () => {
    running.when({ ...start, runtimeId: 'runtime-2' }).thenRefuses('run_fenced');
  });

  test('when the same runtime starts it again, then it is fenced: there is one process at most', () => {
    running.when(start).thenRefuses('run_fenced');
  });

  test('when its runtime reports its end, then it has ended', () => {
    running.when(finishRun()).thenRecords(runFinished());
  });

  test.each(failures)('when its end is %s, then that is recorded', (outcome) => {
    const end = { outcome, exitCode: null, signal: 'SIGKILL' };
    running.when(finishRun(end)).thenRecords(runFinished(end));
  });

  test.each([0, 1, 3])('when a report with fence %i comes, then it is fenced', (fence) => {
    running.when(finishRun({ fence })).thenRefuses('run_fenced');
  });

  test('when it is stopped, then its runtime is asked to', () => {
    running.when(stop).thenRecords(stopRequested);
  });

  test('when it is given up, then it is fenced', () => {
    running.when(abandon).thenRefuses('run_fenced');
  });
});

describe('given a run that is asked to stop', () => {
  const stopping = given(runAggregate, runQueued(), runStarted(), stopRequested);

  test('when it is stopped again, then nothing is recorded', () => {
    stopping.when(stop).thenRecordsNothing();
  });

  test('when its runtime reports its end, then the fence is still that of the start', () => {
    const end = { outcome: 'stopped', exitCode: null, signal: 'SIGTERM' } as const;
    stopping.when(finishRun(end)).thenRecords(runFinished(end));
    stopping.when(finishRun({ ...end, fence: 3 })).thenRefuses('run_fenced');
  });
});

describe.each([
  ['success', [runQueued(), runStarted(), runFinished()]],
  ['stopped', [runQueued(), runFinished({ outcome: 'stopped' })]],
  ['runtime_lost', [runQueued(), runStarted(), runFinished({ outcome: 'runtime_lost' })]],
] as const)('given a run that ended with %s', (_, history) => {
  const ended = given(runAggregate, ...history);

  test('when it is stopped, then it is not active', () => {
    ended.when(stop).thenRefuses('run_not_active');
  });

  test('when it is started, then it is fenced', () => {
    ended.when(start).thenRefuses('run_fenced');
  });

  test.each([
    finishRun(),
    finishRun({ outcome: 'runtime_lost', exitCode: null }),
    finishRun({ fence: 9 }),
    abandon,
  ])('when its end is reported again, then nothing is recorded', (command) => {
    ended.when(command).thenRecordsNothing();
  });

  test('when it is asked for again, then nothing is recorded', () => {
    ended.when(runScript(), scriptFacts()).thenRecordsNothing();
  });
});

test('every failure shows as failed, and only failures do', () => {
  expect(failures.map((failure: Failure) => statusOf(failure))).toEqual(
    failures.map(() => 'failed'),
  );
  expect([statusOf('success'), statusOf('stopped')]).toEqual(['success', 'stopped']);
});

describe('given a run that waits for a slot', () => {
  const waiting = given(runAggregate, runQueued({ waiting: true }));
  const release = { type: 'ReleaseRun', ...id, scriptId: scriptId() } as const;
  const released: RunEvent = { type: 'RunReleased', data: { ...id, scriptId: scriptId() } };

  test('when there is one, then it is released', () => {
    waiting.when(release, scriptFacts({ waitingRuns: 5 })).thenRecords(released);
  });

  test('when there is none, or the script is withdrawn, then it is not', () => {
    const full = scriptFacts({ activeRuns: 1 });
    waiting.when(release, full).thenRefuses('concurrency_limit_reached');
    waiting.when(release, scriptFacts({ enabled: false })).thenRefuses('script_disabled');
    waiting.when(release, scriptFacts({ deleted: true })).thenRefuses('not_found');
    waiting.when(release, undefined).thenRefuses('not_found');
  });

  test('when a runtime would start it before that, then it is refused', () => {
    waiting.when(start, undefined).thenRefuses('run_fenced');
    given(runAggregate, runQueued({ waiting: true }), released)
      .when(start, undefined)
      .thenRecords(runStarted());
  });

  test('when it is stopped or has waited too long, then it has ended', () => {
    const end = { exitCode: null, signal: null, totals: noTotals };
    waiting.when(stop, undefined).thenRecords(runFinished({ ...end, outcome: 'stopped' }));
    waiting
      .when({ ...abandon, failure: 'expired', totals: noTotals }, undefined)
      .thenRecords(runFinished({ ...end, outcome: 'expired' }));
  });

  test('when a run that does not wait is released, then nothing happens', () => {
    const full = scriptFacts({ activeRuns: 1 });
    given(runAggregate, runQueued()).when(release, full).thenRecordsNothing();
    given(runAggregate, runQueued(), runStarted()).when(release, full).thenRecordsNothing();
    given(runAggregate, runQueued(), runFinished()).when(release, full).thenRecordsNothing();
    given(runAggregate).when(release, scriptFacts()).thenRefuses('not_found');
  });
});
