import type { ChangeId, GroupId, RunId, ScriptId, UserId } from '#domain/kernel/ids.ts';
import type { ApprovalStatus } from '#domain/kernel/approval.ts';
import type { ReadModels } from '../projection.ts';
import { correlationIdOf } from '../run-queue/correlation.ts';
import { statement } from '../statement.ts';
import type { ApprovalsTable } from './table.ts';

/** The ID of the run or change that requires the approval. */
export type ApprovalId = RunId | ChangeId;

export interface ApprovalView extends ApprovalsTable {
  /** The current group of the script. Its members can see the approval. */
  readonly group_id: string;
  /** The current version of the script. */
  readonly current_version: number;
}

export interface ApprovalFilter {
  /** Returns only approvals in these groups. `null` means all groups. */
  readonly groupIds: readonly GroupId[] | null;
  readonly status: ApprovalStatus | null;
  readonly scriptId: string | null;
  /** Returns only requests from this user. `null` means all users. */
  readonly requesterId: UserId | null;
}

const views = `SELECT a.*, s.group_id, s.version AS current_version FROM approvals a JOIN scripts s USING (script_id)`;

const many = statement<ApprovalView>(`${views}
  WHERE ($1::uuid[] IS NULL OR s.group_id = ANY($1)) AND ($2::text IS NULL OR a.status = $2)
    AND ($3::uuid IS NULL OR a.script_id = $3) AND ($4::uuid IS NULL OR a.requester_id = $4)
    AND ($5::uuid IS NULL OR a.approval_id < $5)
  ORDER BY a.approval_id DESC LIMIT $6`);

/** Lists approvals, newest first, starting after `after`. Returns at most `limit` approvals. */
export async function listApprovals(
  db: ReadModels,
  { groupIds, status, scriptId, requesterId }: ApprovalFilter,
  after: ApprovalId | undefined,
  limit: number,
): Promise<readonly ApprovalView[]> {
  return await many(db, groupIds, status, scriptId, requesterId, after ?? null, limit);
}

const one = statement<ApprovalView>(`${views} WHERE a.approval_id = $1`);

/** Returns the approval of a run or a change, or `undefined` if none exists. */
export async function findApproval(
  db: ReadModels,
  id: ApprovalId,
): Promise<ApprovalView | undefined> {
  return (await one(db, id))[0];
}

const pendingChange = statement<{ readonly approval_id: ChangeId }>(`
  SELECT approval_id FROM approvals a JOIN scripts s USING (script_id)
  WHERE a.kind = 'save' AND status = 'pending' AND a.script_id = $1 AND requester_id = $2
    AND (s.protected ->> 'save')::boolean`);

/** Returns the pending change that a user has requested for a protected script. */
export async function findPendingChange(
  db: ReadModels,
  scriptId: ScriptId,
  requesterId: UserId,
): Promise<ChangeId | undefined> {
  return (await pendingChange(db, scriptId, requesterId))[0]?.approval_id;
}

const commitChanges = statement<Pick<ApprovalsTable, 'script_id' | 'script_name'>>(`
  SELECT script_id, script_name FROM approvals
  WHERE kind = 'save' AND status = 'pending' AND requester_id IS NULL`);

/** Returns the names of scripts for which a commit has requested a pending change, by script ID. */
export async function scriptsWithCommitChanges(
  db: ReadModels,
): Promise<ReadonlyMap<string, string>> {
  return new Map(
    (await commitChanges(db)).map(({ script_id: id, script_name: name }) => [id, name]),
  );
}

export type ExpiredApproval =
  | { readonly kind: 'run'; readonly id: RunId; readonly correlation_id: string }
  | { readonly kind: 'save'; readonly id: ChangeId; readonly script_id: ScriptId };

const expired = statement<ExpiredApproval>(`
  SELECT kind, approval_id AS id, script_id,
    CASE kind WHEN 'run' THEN ${correlationIdOf('approval_id')} END AS correlation_id
  FROM approvals
  WHERE status = 'pending' AND expires_at <= $1 ORDER BY expires_at, approval_id LIMIT $2`);

/** Returns pending requests that have expired, oldest first. Returns at most `limit` requests. */
export async function expiredApprovals(
  db: ReadModels,
  now: Date,
  limit: number,
): Promise<readonly ExpiredApproval[]> {
  return await expired(db, now, limit);
}

const otherApprovers = statement<{ readonly found: boolean }>(`
  SELECT EXISTS (SELECT FROM users WHERE NOT disabled AND user_id <> $1
    AND (role = 'administrator' OR role = ANY($3) AND group_ids ? $2)) AS found`);

const deciders = { run: ['developer', 'operator'], save: ['developer'] } as const;

/** Whether another enabled user could approve an action on scripts of the group. */
export async function hasOtherApprover(
  db: ReadModels,
  userId: string,
  groupId: string,
  action: ApprovalsTable['kind'],
): Promise<boolean> {
  return (await otherApprovers(db, userId, groupId, deciders[action]))[0]?.found ?? false;
}
