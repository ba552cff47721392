import type { Recorded } from '#domain/aggregates.ts';
import { changeId, groupId, noticeId, runId, scriptId } from '#domain/testing/ids.ts';
import { beginning, recordAll } from '#domain/testing/recorded.ts';
import { reactionReads } from '#domain/testing/reads.ts';
import { expect, test } from 'vitest';
import { whenApprovalChangedPostNotice } from './when-approval-changed-post-notice.ts';

const request = {
  scriptName: 'Report',
  groupId: groupId(),
  scriptVersion: 3,
  requestedBy: null,
  expiresAt: '2026-04-08T10:20:30.000Z',
};

test.each([
  [
    'RunApprovalRequested',
    'warning',
    'A run of version 3 requires approval by 2026-04-08 10:20 UTC.',
  ],
  ['RunApproved', 'info', 'The run was approved.'],
  ['RunRejected', 'info', 'The run was rejected.'],
  ['RunApprovalExpired', 'info', 'The approval request expired.'],
  ['RunApprovalWithdrawn', 'info', 'The approval request was withdrawn.'],
])('the run event %s causes a notice', async (type, level, message) => {
  const [any] = await recordAll(beginning);
  const about = { runId: runId(), scriptId: scriptId() };
  const data = type === 'RunApprovalRequested' ? { ...about, ...request } : about;
  const event = { ...any, type, data } as Recorded;
  const posted = await whenApprovalChangedPostNotice.react(event, reactionReads(), () =>
    noticeId(),
  );
  const place = { type: 'PostNotice', noticeId: noticeId(), ...about };
  expect(posted).toEqual([{ ...place, on: 'approval_requested', level, message }]);
});

test.each([
  ['ScriptChangeRequested', 'warning', 'A change requires approval by 2026-04-08 10:20 UTC.'],
  [
    'ScriptChangeRequested',
    'warning',
    'Restoring the deleted script requires approval by 2026-04-08 10:20 UTC.',
    [{ type: 'RestoreScript' }],
  ],
  ['ScriptChangeApproved', 'info', 'The change was approved.'],
  ['ScriptChangeRejected', 'info', 'The change was rejected.'],
  ['ScriptChangeExpired', 'info', 'The approval request expired.'],
  ['ScriptChangeWithdrawn', 'info', 'The approval request was withdrawn.'],
])(
  'the script event %s causes a notice about the change',
  async (type, level, message, edits: readonly object[] = []) => {
    const [any] = await recordAll(beginning);
    const data = { scriptId: scriptId(), changeId: changeId(), ...request, edits };
    const event = { ...any, type, data } as Recorded;
    const posted = await whenApprovalChangedPostNotice.react(event, reactionReads(), () =>
      noticeId(),
    );
    const place = { runId: null, scriptId: scriptId(), changeId: changeId() };
    const notice = { type: 'PostNotice', noticeId: noticeId(), on: 'approval_requested' };
    expect(posted).toEqual([{ ...notice, ...place, level, message }]);
  },
);
