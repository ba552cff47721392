import { given } from '#domain/testing/given.ts';
import { groupId, runId, scriptId } from '#domain/testing/ids.ts';
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
