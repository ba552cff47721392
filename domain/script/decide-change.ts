/** Decides the request, revision and end of changes to protected scripts. */
import { hasExpired } from '#domain/kernel/approval.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import type { ChangeId, ScriptId } from '#domain/kernel/ids.ts';
import {
  changesCode,
  isSameScript,
  narrowed,
  pinned,
  proposed,
  unprotects,
  withEdit,
  type KnownScript,
} from './change.ts';
import type {
  ApproveChange,
  ChangeCommand,
  Edit,
  EditScript,
  ExpireChange,
  RebaseChange,
  RejectChange,
} from './commands.ts';
import type { ScriptEvent } from './events.ts';
import type { PendingChange, ScriptState } from './state.ts';

export type Apply = (state: KnownScript, edits: readonly Edit[]) => Decision<ScriptEvent>;

/** Whether another user must approve the edits. */
export function needsApproval(state: KnownScript, edits: readonly Edit[]): boolean {
  const isGuarded = state.settings.protected.save;
  return edits.some((edit) => (isGuarded && changesCode(state, edit)) || unprotects(state, edit));
}

export const approvalRequired = refuse(
  'approval_required',
  'Changes to this script require approval, which this caller cannot request.',
);

/** Applies the edits, or adds them to the requester's pending change. */
export function editScript(
  state: KnownScript,
  { scriptId, edits, approval }: EditScript,
  apply: Apply,
): Decision<ScriptEvent> {
  const { requestedBy, expiresAt } = approval;
  const own = [...state.changes].find(([, change]) => change.requestedBy === requestedBy);
  // A commit contains all changes of earlier commits, so it replaces the repository's pending change.
  const replaced = own !== undefined && requestedBy === null ? withdrawn(scriptId, own[0]) : [];
  if (!needsApproval(state, edits)) {
    const decision = apply(state, edits);
    return decision.kind === 'refused' ? decision : accept(...replaced, ...decision.events);
  }
  const pending = own && apply(state, own[1].edits);
  const isAdded = own !== undefined && requestedBy !== null;
  if (isAdded && pending?.kind === 'refused') return conflict(pending);
  const before = pending?.kind === 'accepted' ? proposed(state, pending.events) : state;
  let script = isAdded ? before : state;
  let all = isAdded ? own[1].edits : [];
  for (const edit of edits) {
    const pin = pinned(script, edit, state);
    const decision = apply(script, [pin]);
    if (decision.kind === 'refused') return decision;
    if (decision.events.length === 0) continue;
    script = proposed(script, decision.events);
    all = withEdit(all, narrowed(pin, decision.events));
  }
  if (all.length === 0) return accept(...replaced);
  const baseVersion = state.version;
  const isBased = own === undefined || own[1].baseVersion === baseVersion;
  const isSame = isSameScript(script, before);
  if (isBased && isSame) return accept();
  if (own === undefined) {
    const { changeId } = approval;
    const data = { scriptId, changeId, scriptName: state.name, requestedBy, expiresAt };
    return accept({ type: 'ScriptChangeRequested', data: { ...data, baseVersion, edits: all } });
  }
  const [changeId, change] = own;
  // If the content is the same, the source remains the commit that last changed the script.
  const kept = isSame && pending?.kind === 'accepted';
  const revised = kept ? change.edits : all;
  return revise(change, { scriptId, changeId, baseVersion, edits: revised, expiresAt });
}

/** Decides a command about a pending change.
 *  @param otherApprover whether another user could decide. If so, the requester cannot approve. */
export function decideChange(
  state: ScriptState,
  command: ChangeCommand,
  apply: Apply,
  otherApprover: boolean,
): Decision<ScriptEvent> {
  if (state.status === 'absent') return refuse('not_found', 'Script not found.');
  const change = state.changes.get(command.changeId);
  if (command.type === 'ExpireChange') return expire(change, command);
  if (change === undefined) {
    return refuse('approval_not_pending', 'The request is already closed.');
  }
  if (hasExpired(change, command.at)) {
    return refuse('approval_not_pending', 'The request has expired. Request the change again.');
  }
  switch (command.type) {
    case 'ApproveChange':
      return approve(state, change, command, apply, otherApprover);
    case 'RejectChange':
      return reject(change, command);
    case 'RebaseChange':
      return rebase(state, change, command, apply);
  }
}

/** Returns the events that withdraw all pending changes when a script is deleted. */
export function withdrawals(
  { changes }: KnownScript,
  { scriptId }: Pick<EditScript, 'scriptId'>,
): readonly ScriptEvent[] {
  return [...changes.keys()].flatMap((changeId) => withdrawn(scriptId, changeId));
}

function withdrawn(scriptId: ScriptId, changeId: ChangeId): readonly ScriptEvent[] {
  return [{ type: 'ScriptChangeWithdrawn', data: { scriptId, changeId } }];
}

function approve(
  state: KnownScript,
  change: PendingChange,
  { scriptId, changeId, approver, revision }: ApproveChange,
  apply: Apply,
  otherApprover: boolean,
): Decision<ScriptEvent> {
  const denial = denialOf(change, approver);
  if (denial !== undefined) return denial;
  if (change.requestedBy === approver.userId && otherApprover) {
    return refuse('forbidden', 'You requested this change. Another user must approve it.');
  }
  if (revision !== change.revision) {
    return refuse(
      'version_mismatch',
      'The request has changed since you read it. Reload it and try again.',
    );
  }
  if (change.baseVersion !== state.version) {
    return refuse(
      'approval_outdated',
      `The change was requested for version ${change.baseVersion}, but the script is now at version ${state.version}. Rebase or withdraw the change.`,
    );
  }
  const decision = apply(state, change.edits);
  return decision.kind === 'refused'
    ? decision
    : accept<ScriptEvent>(
        { type: 'ScriptChangeApproved', data: { scriptId, changeId } },
        ...decision.events,
      );
}

/** Requesters use this command to withdraw their own changes. */
function reject(
  change: PendingChange,
  { scriptId, changeId, approver }: RejectChange,
): Decision<ScriptEvent> {
  const data = { scriptId, changeId };
  if (change.requestedBy === approver.userId) {
    return accept({ type: 'ScriptChangeWithdrawn', data });
  }
  return denialOf(change, approver) ?? accept({ type: 'ScriptChangeRejected', data });
}

function rebase(
  state: KnownScript,
  change: PendingChange,
  { scriptId, changeId, expiresAt }: RebaseChange,
  apply: Apply,
): Decision<ScriptEvent> {
  if (change.baseVersion === state.version) return accept();
  const decision = apply(state, change.edits);
  if (decision.kind === 'refused') return conflict(decision);
  const { edits } = change;
  return revise(change, { scriptId, changeId, baseVersion: state.version, edits, expiresAt });
}

function expire(
  change: PendingChange | undefined,
  { scriptId, changeId, at }: ExpireChange,
): Decision<ScriptEvent> {
  return change === undefined || !hasExpired(change, at)
    ? accept()
    : accept({ type: 'ScriptChangeExpired', data: { scriptId, changeId } });
}

type Revision = Extract<ScriptEvent, { type: 'ScriptChangeRevised' }>['data'];

function revise(change: PendingChange, data: Omit<Revision, 'revision'>): Decision<ScriptEvent> {
  const revision = change.revision + 1;
  return accept({ type: 'ScriptChangeRevised', data: { ...data, revision } });
}

function conflict({ refusal }: Extract<Decision<never>, { kind: 'refused' }>): Decision<never> {
  return refuse(
    'approval_outdated',
    `The pending change cannot be applied to the current version. Withdraw it and save again. ${refusal.detail}`,
  );
}

function denialOf(
  { requestedBy }: PendingChange,
  { isAdministrator }: ApproveChange['approver'],
): Decision<never> | undefined {
  return requestedBy === null && !isAdministrator
    ? refuse('forbidden', 'The requester is unknown, so only an administrator may decide.')
    : undefined;
}
