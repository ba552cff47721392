/** The texts of notifications about approvals. */
import type { EventType, Recorded } from '#domain/aggregates.ts';
import type { ScriptId } from '#domain/kernel/ids.ts';
import type { NoticePosted } from '#domain/notice/events.ts';
import { restores } from '#domain/script/change.ts';

/** The approval events that cause notifications. Revisions cause none, because a requester may revise a change with
 *  every save. */
export const approvalEvents = [
  'RunApprovalRequested',
  'RunApproved',
  'RunRejected',
  'RunApprovalExpired',
  'RunApprovalWithdrawn',
  'ScriptChangeRequested',
  'ScriptChangeApproved',
  'ScriptChangeRejected',
  'ScriptChangeExpired',
  'ScriptChangeWithdrawn',
] as const satisfies readonly EventType[];

export type ApprovalEvent = Extract<Recorded, { type: (typeof approvalEvents)[number] }>;

export function isApprovalEvent(event: Recorded): event is ApprovalEvent {
  return (approvalEvents as readonly EventType[]).includes(event.type);
}

/** Returns the script, run or change that an approval is about. */
export function approvalSubject({ data }: ApprovalEvent): Pick<
  NoticePosted['data'],
  'runId' | 'changeId'
> & {
  readonly scriptId: ScriptId;
} {
  const { scriptId } = data;
  return 'changeId' in data
    ? { scriptId, runId: null, changeId: data.changeId }
    : { scriptId, runId: data.runId };
}

/** Returns the notification about an approval event. `isRequest` is true while a decision is pending. */
export function approvalNews(event: ApprovalEvent) {
  const on = 'approval_requested' as const;
  const asked = (message: string) => ({ on, level: 'warning', message, isRequest: true }) as const;
  const ended = (message: string) => ({ on, level: 'info', message, isRequest: false }) as const;
  switch (event.type) {
    case 'RunApprovalRequested': {
      const { scriptVersion, expiresAt } = event.data;
      return asked(`A run of version ${scriptVersion} requires approval by ${until(expiresAt)}.`);
    }
    case 'ScriptChangeRequested': {
      const { edits, expiresAt } = event.data;
      const what = restores(edits) ? 'Restoring the deleted script' : 'A change';
      return asked(`${what} requires approval by ${until(expiresAt)}.`);
    }
    case 'RunApproved':
      return ended('The run was approved.');
    case 'ScriptChangeApproved':
      return ended('The change was approved.');
    case 'RunRejected':
      return ended('The run was rejected.');
    case 'ScriptChangeRejected':
      return ended('The change was rejected.');
    case 'RunApprovalExpired':
    case 'ScriptChangeExpired':
      return ended('The approval request expired.');
    case 'RunApprovalWithdrawn':
    case 'ScriptChangeWithdrawn':
      return ended('The approval request was withdrawn.');
  }
}

function until(expiresAt: string): string {
  return `${expiresAt.slice(0, 16).replace('T', ' ')} UTC`;
}
