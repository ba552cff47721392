/** Decides commands about approvals. */
import { hasExpired, type ApprovalRequest, type ApprovalStatus } from '#domain/kernel/approval.ts';
import type { UserId } from '#domain/kernel/ids.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import type { ApproveRun, ExpireApproval, RejectRun } from './commands.ts';
import type { RunEvent, RunFinished } from './events.ts';
import { noTotals } from './run.ts';
import type { RunState } from './state.ts';

type Pending = Extract<RunState, { status: 'queued' }>;

/** Returns the event that withdraws a pending approval request when the run ends. Returns no event if no request is
 *  pending. */
export function withdrawal(
  state: RunState,
  { runId }: Pick<ApproveRun, 'runId'>,
): readonly RunEvent[] {
  if (state.status !== 'queued' || state.approval?.status !== 'pending') return [];
  return [{ type: 'RunApprovalWithdrawn', data: { runId, scriptId: state.scriptId } }];
}

/** @param otherApprover whether another user could decide. If so, the requester cannot approve. */
export function approve(
  state: RunState,
  command: ApproveRun,
  otherApprover: boolean,
): Decision<RunEvent> {
  const found = pendingRequest(state, command, 'approved');
  if (found.kind === 'decided') return found.decision;
  const { request, scriptId } = found;
  const denial = denialOf(request, command);
  if (denial !== undefined) return denial;
  if (request.requestedBy === command.approver.userId && otherApprover) {
    return refuse('forbidden', 'You requested this run. Another user must approve it.');
  }
  return accept({ type: 'RunApproved', data: { runId: command.runId, scriptId } });
}

/** Requesters use this command to withdraw their own requests. */
export function reject(state: RunState, command: RejectRun): Decision<RunEvent> {
  const found = pendingRequest(state, command, 'rejected');
  if (found.kind === 'decided') return found.decision;
  const { request, scriptId } = found;
  const data = { runId: command.runId, scriptId };
  if (request.requestedBy === command.approver.userId) {
    return accept<RunEvent>({ type: 'RunApprovalWithdrawn', data }, stopped(data));
  }
  const denial = denialOf(request, command);
  return denial ?? accept<RunEvent>({ type: 'RunRejected', data }, stopped(data));
}

export function expire(state: RunState, { runId, at }: ExpireApproval): Decision<RunEvent> {
  if (state.status === 'absent') return refuse('not_found', 'Run not found.');
  if (state.status !== 'queued' || state.approval?.status !== 'pending') return accept();
  if (!hasExpired(state.approval, at)) return accept();
  const data = { runId, scriptId: state.scriptId };
  return accept<RunEvent>({ type: 'RunApprovalExpired', data }, stopped(data));
}

type Found =
  | {
      readonly kind: 'pending';
      readonly request: ApprovalRequest;
      readonly scriptId: Pending['scriptId'];
    }
  | { readonly kind: 'decided'; readonly decision: Decision<RunEvent> };

/** Returns the approval request that a command decides. Repeating a decision has no effect. */
function pendingRequest(
  state: RunState,
  { at }: ApproveRun | RejectRun,
  wanted: ApprovalStatus,
): Found {
  if (state.status === 'absent') return decided(refuse('not_found', 'Approval not found.'));
  const { approval } = state;
  if (approval === undefined)
    return decided(refuse('not_found', 'The run does not require approval.'));
  if (approval.status === wanted) return decided(accept());
  if (approval.status !== 'pending' || state.status !== 'queued') {
    return decided(refuse('approval_not_pending', `The request was already ${approval.status}.`));
  }
  if (hasExpired(approval, at)) {
    return decided(refuse('approval_not_pending', 'The request has expired. Request a new run.'));
  }
  return { kind: 'pending', request: approval, scriptId: state.scriptId };
}

function decided(decision: Decision<RunEvent>): Found {
  return { kind: 'decided', decision };
}

function denialOf(
  { requestedBy }: { readonly requestedBy: UserId | null },
  { approver }: ApproveRun | RejectRun,
): Decision<never> | undefined {
  return requestedBy === null && !approver.isAdministrator
    ? refuse('forbidden', 'The requester is unknown, so only an administrator may decide.')
    : undefined;
}

function stopped(
  data: { readonly runId: ApproveRun['runId'] } & Pick<Pending, 'scriptId'>,
): RunFinished {
  return {
    type: 'RunFinished',
    data: { ...data, outcome: 'stopped', exitCode: null, signal: null, totals: noTotals },
  };
}
