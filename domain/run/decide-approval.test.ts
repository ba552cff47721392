import { given } from '#domain/testing/given.ts';
import { groupId, runId, scheduleId, scriptId, userId } from '#domain/testing/ids.ts';
import {
  runFinished,
  runQueued,
  runScript,
  runStarted,
  scriptFacts,
} from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import type { ApprovalRequest } from '#domain/kernel/approval.ts';
import { runAggregate } from './decide.ts';
import type { RunEvent } from './events.ts';
import { noTotals, type Trigger } from './run.ts';

const approval: ApprovalRequest = {
  requestedBy: userId(1),
  expiresAt: '2026-01-08T00:00:00.000Z',
};
const data = { runId: runId(), scriptId: scriptId() };
const requested: RunEvent = {
  type: 'RunApprovalRequested',
  data: { ...data, scriptName: 'Report', groupId: groupId(), scriptVersion: 1, ...approval },
};
const queued = runQueued({ waiting: true });
const approved: RunEvent = { type: 'RunApproved', data };
const rejected: RunEvent = { type: 'RunRejected', data };
const withdrawn: RunEvent = { type: 'RunApprovalWithdrawn', data };
const expired: RunEvent = { type: 'RunApprovalExpired', data };
const ended = runFinished({ outcome: 'stopped', exitCode: null, totals: noTotals });

const guarded = scriptFacts({ protectedRun: true });
const [before, after] = ['2026-01-07T00:00:00.000Z', '2026-01-08T00:00:00.000Z'];
const approver = { userId: userId(2), isAdministrator: false };
const approve = { type: 'ApproveRun', ...data, approver, at: before } as const;
const reject = { type: 'RejectRun', ...data, approver, at: before } as const;
const own = { approver: { userId: userId(1), isAdministrator: true } };

describe('a requested run of a protected script', () => {
  const nothing = given(runAggregate);

  test('waits for approval with the script version from the time of the request', () => {
    nothing.when(runScript({ approval }), guarded).thenRecords(queued, requested);
    nothing
      .when(runScript({ approval }), scriptFacts({ protectedRun: true, version: 7 }))
      .thenRecords(runQueued({ waiting: true, scriptVersion: 7 }), {
        type: 'RunApprovalRequested',
        data: { ...requested.data, scriptVersion: 7 },
      });
  });

  test('waits for approval even if the script has no free slot', () => {
    const busy = scriptFacts({ protectedRun: true, activeRuns: 1 });
    nothing.when(runScript({ approval }), busy).thenRecords(queued, requested);
  });

  test('is refused unless its command contains an approval request', () => {
    nothing.when(runScript(), guarded).thenRefuses('forbidden');
  });

  test('requires no approval after the protection was removed', () => {
    nothing.when(runScript({ approval }), scriptFacts()).thenRecords(runQueued());
  });

  const repeated = { type: 'retry', runId: runId(9) } as const;
  test.each<[string, Trigger]>([
    ['a retry', repeated],
    ['an always-on run', { type: 'event', cause: 'keep_alive' }],
  ])('requires no approval if it is %s', (_what, trigger) => {
    nothing.when(runScript({ trigger }), guarded).thenRecords(runQueued({ trigger }));
  });

  test('requires no approval if a schedule started it, except for a backfill', () => {
    const dueAt = '2026-01-01T01:00:00.000Z';
    const trigger = { type: 'schedule', scheduleId: scheduleId(), dueAt } as const;
    const fired = { ...trigger, outcome: 'fired' } as const;
    const schedule = { enabled: true, active: false, servedUntil: '2026-01-01T00:00:00.000Z' };
    nothing
      .when(runScript({ trigger: fired }), { ...guarded, schedule })
      .thenRecords(runQueued({ trigger: fired }));
    const backfilled = { ...trigger, outcome: 'backfilled' } as const;
    nothing
      .when(runScript({ trigger: backfilled, approval }), {
        ...guarded,
        schedule: { ...schedule, servedUntil: dueAt },
      })
      .thenRecords(runQueued({ trigger: backfilled, waiting: true }), requested);
  });

  test.each<[string, Trigger]>([
    ['as a rerun', { type: 'rerun', runId: runId(9) }],
    ['by a queue message', { type: 'queue' }],
    ['by a language model', { type: 'mcp' }],
    ['by another script', { type: 'event', cause: 'script', runId: runId(9) }],
  ])('requires an approval if requested %s', (_what, trigger) => {
    nothing
      .when(runScript({ trigger, approval }), guarded)
      .thenRecords(runQueued({ trigger, waiting: true }), requested);
  });
});

describe('a run with a pending approval', () => {
  const pending = given(runAggregate, queued, requested);
  const facing = { ...guarded, otherApprover: true };

  test('can be approved only once, by another user', () => {
    pending.when(approve, facing).thenRecords(approved);
    const released = given(runAggregate, queued, requested, approved);
    released.when(approve, facing).thenRecordsNothing();
    released.when(reject, facing).thenRefuses('approval_not_pending');
    const running = given(runAggregate, queued, requested, approved, runStarted());
    running.when(approve, facing).thenRecordsNothing();
  });

  test('can be rejected only once, and finishes when it is rejected', () => {
    pending.when(reject, facing).thenRecords(rejected, ended);
    const over = given(runAggregate, queued, requested, rejected, ended);
    over.when(reject, facing).thenRecordsNothing();
    over.when(approve, facing).thenRefuses('approval_not_pending');
  });

  test('cannot be approved by its requester unless no other user can approve it', () => {
    pending.when({ ...approve, ...own }, facing).thenRefuses('forbidden');
    pending
      .when({ ...approve, ...own }, { ...guarded, otherApprover: false })
      .thenRecords(approved);
  });

  test('is recorded as withdrawn if its requester rejects it', () => {
    pending.when({ ...reject, ...own }, facing).thenRecords(withdrawn, ended);
  });

  test('can be approved or rejected only by administrators if the requester is unknown', () => {
    const anonymous = { ...requested, data: { ...requested.data, requestedBy: null } };
    const unknown = given(runAggregate, queued, anonymous);
    unknown.when(approve, facing).thenRefuses('forbidden');
    unknown.when(reject, facing).thenRefuses('forbidden');
    const administrator = { approver: { ...approver, isAdministrator: true } };
    unknown.when({ ...approve, ...administrator }, facing).thenRecords(approved);
    unknown.when({ ...reject, ...administrator }, facing).thenRecords(rejected, ended);
  });

  test('cannot be approved after its script was disabled or deleted', () => {
    pending.when(approve, { ...facing, enabled: false }).thenRefuses('script_disabled');
    pending.when(approve, { ...facing, deleted: true }).thenRefuses('not_found');
    pending.when(approve, undefined).thenRefuses('not_found');
  });

  test('expires at its expiry time, and can no longer be approved', () => {
    const expire = { type: 'ExpireApproval', runId: runId() } as const;
    pending.when({ ...expire, at: before }).thenRecordsNothing();
    pending.when({ ...expire, at: after }).thenRecords(expired, ended);
    pending.when({ ...approve, at: after }, facing).thenRefuses('approval_not_pending');
    given(runAggregate, queued, requested, approved)
      .when({ ...expire, at: after })
      .thenRecordsNothing();
  });

  test('withdraws the approval request when it is stopped', () => {
    pending.when({ type: 'StopRun', runId: runId() }).thenRecords(withdrawn, ended);
  });

  test('cannot be released or started before the approval', () => {
    const release = { type: 'ReleaseRun', ...data } as const;
    pending.when(release, facing).thenRefuses('approval_pending');
    const start = { type: 'StartRun', runId: runId(), runtimeId: 'runtime-1', layers: [] } as const;
    pending.when(start).thenRefuses('run_fenced');
    given(runAggregate, queued, requested, approved)
      .when(release, facing)
      .thenRecords({ type: 'RunReleased', data });
  });
});

test('a run that requires no approval cannot be approved or rejected', () => {
  given(runAggregate, runQueued()).when(approve, guarded).thenRefuses('not_found');
  given(runAggregate).when(reject).thenRefuses('not_found');
});
