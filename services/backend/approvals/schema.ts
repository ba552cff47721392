/** The wire format of approvals (contract part 2, "Teams"). */
import { approvalStatuses } from '#domain/kernel/approval.ts';
import Type from 'typebox';
import type { ResponseRule } from '../http/operation.ts';
import { Exact, examples, Nullable, Page, Time, Uuid } from '../http/schema.ts';
import { FileDiff, SettingChange } from '../scripts/history/schema.ts';

export const ApprovalStatusSchema = Type.Enum(approvalStatuses);

const example = {
  id: examples.runId,
  kind: 'run',
  subject: {
    run_id: examples.runId,
    script_id: examples.scriptId,
    script_name: 'Price watcher',
    script_version: 3,
  },
  change: null,
  requested_by: 'ada@example.com',
  requested_at: examples.time,
  expires_at: '2026-11-28T02:31:00.000Z',
  status: 'pending',
  decided_by: null,
  decided_at: null,
  can_decide: true,
};

export const Approval = Exact(
  {
    id: Uuid('For the kind `run`, the ID of the run.'),
    kind: Type.Enum(['run', 'save'], {
      description:
        '`run`: a run of the script. `save`: a change to its files, or to settings that affect its code.',
    }),
    subject: Exact(
      {
        run_id: Nullable(Uuid('`null` for a change.')),
        script_id: Uuid(),
        script_name: Type.String({ description: 'Name of the script at the time of the request.' }),
        script_version: Type.Integer({
          minimum: 1,
          description:
            'The version that the approved run executes, even if the script is changed before the approval; or the ' +
            'version to which the change applies.',
        }),
      },
      { title: 'ApprovalSubject' },
    ),
    change: Nullable(
      Exact(
        {
          revision: Type.Integer({
            minimum: 1,
            description: 'Incremented when the requester adds another request to the change.',
          }),
          restores: Type.Boolean({
            description: 'Whether the change restores the deleted script.',
          }),
          outdated: Type.Boolean({
            description:
              'Whether the script has changed since the request. An outdated change must be rebased before its ' +
              'approval.',
          }),
        },
        { title: 'ApprovalChange', description: '`null` for a run.' },
      ),
    ),
    requested_by: Type.String(),
    requested_at: Time(),
    expires_at: Time('When a pending request expires.'),
    status: ApprovalStatusSchema,
    decided_by: Nullable(
      Type.String({ description: 'Who approved, rejected or withdrew the request.' }),
    ),
    decided_at: Nullable(Time('When the request ended.')),
    can_decide: Type.Boolean({
      description: 'Whether the caller may approve the request. Requires a sign-in.',
    }),
  },
  { title: 'Approval', examples: [example] },
);

export const ApprovalPage = Page('ApprovalPage', Approval);

/** The response to an edit of a protected script. */
export const requested: ResponseRule = {
  description: 'The script is protected. The change waits for approval and is not applied yet.',
  schema: Approval,
  headers: ['Orch-Position'],
};

export const ChangeDiff = Exact(
  {
    from: Type.Integer({ minimum: 1, description: 'The version that the change applies to.' }),
    settings: Type.Array(SettingChange),
    items: Type.Array(FileDiff),
    next_cursor: Nullable(Type.String()),
  },
  { title: 'ChangeDiff' },
);

/** The responses to decisions. */
export const decided = {
  200: { description: 'The approval.', schema: Approval, headers: ['Orch-Position'] },
} as const;
