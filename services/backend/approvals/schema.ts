/** Approvals on the wire (contract part 2, "Teams"). */
import { approvalStatuses } from '#domain/run/approval.ts';
import Type from 'typebox';
import { Exact, examples, Nullable, Page, Time, Uuid } from '../http/schema.ts';

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
    kind: Type.Literal('run'),
    subject: Exact(
      {
        run_id: Uuid(),
        script_id: Uuid(),
        script_name: Type.String({ description: 'Name of the script at the time of the request.' }),
        script_version: Type.Integer({
          minimum: 1,
          description:
            'The version that the approved run executes, even if the script is changed before the ' +
            'approval.',
        }),
      },
      { title: 'ApprovalSubject' },
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
