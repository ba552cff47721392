/** Manages approvals. A second user approves or rejects a requested run or change. */
import type { Command } from '#domain/aggregates.ts';
import type { Principal } from '#domain/kernel/actor.ts';
import {
  mustParse,
  parseChangeId,
  parseRunId,
  parseScriptId,
  type RunId,
} from '#domain/kernel/ids.ts';
import { hasRightAnywhere } from '#domain/kernel/rights.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { ApproveRun } from '#domain/run/commands.ts';
import { findApproval, listApprovals, type ApprovalView } from '#projections/approvals/queries.ts';
import Type from 'typebox';
import { visibleApproval, visibleGroups } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { accepted, positionHeader } from '../http/outcome.ts';
import { defaultLimit, keyOf, onePage, pageReply } from '../http/paging.ts';
import { isProblem, notFound, problem } from '../http/problem.ts';
import type { Answer } from '../http/reply.ts';
import { Exact, pageQuery, pathParameters, Uuid } from '../http/schema.ts';
import type { Services } from '../services.ts';
import { Approval, ApprovalPage, ApprovalStatusSchema, decided } from './schema.ts';
import { approvalReply, approvalsJson, rightOf } from './view.ts';

const tag = 'Runs';
const path = '/api/v1/approvals';
const parameters = { approval_id: pathParameters.approvalId };

const list = operation({
  method: 'get',
  path,
  operationId: 'listApprovals',
  summary: 'List approval requests, newest first',
  tag,
  access: { right: 'runs.read' },
  query: Exact({
    ...pageQuery,
    status: Type.Optional(ApprovalStatusSchema),
    script_id: Type.Optional(Uuid()),
    mine: Type.Optional(Type.Boolean({ description: 'Only requests made by the caller.' })),
  }),
  responses: onePage(ApprovalPage),
  handle: async ({ principal, query, url }, services) => {
    const { limit, cursor, status, script_id: scriptId, mine } = query;
    const filter = {
      groupIds: visibleGroups(principal),
      status: status ?? null,
      scriptId: scriptId === undefined ? null : mustParse(parseScriptId, scriptId),
      requesterId: mine === true ? principal.userId : null,
    };
    const request = { list: 'approvals', filter, url, limit, cursor };
    const after = keyOf(request, parseRunId);
    if (isProblem(after)) return after;
    const most = (limit ?? defaultLimit) + 1;
    const rows = await listApprovals(services.readModels, filter, after.key, most);
    const items = await approvalsJson(rows, principal, services);
    return pageReply(
      request,
      items,
      (item) => item.id,
      (item) => item,
    );
  },
});

const get = operation({
  method: 'get',
  path: `${path}/{approval_id}`,
  operationId: 'getApproval',
  summary: 'Read an approval request',
  tag,
  access: { right: 'runs.read' },
  parameters,
  responses: { 200: { description: 'The approval.', schema: Approval } },
  handle: async ({ principal, parameters: { approval_id: id } }, services) => {
    const row = await visibleApproval(principal, id, services.readModels);
    return row === undefined ? notFound : await approvalReply(200, row, principal, services);
  },
});

const aboutDecisions =
  'Requires a sign-in: API tokens cannot decide requests. Requesters cannot approve their own ' +
  'requests, unless no other user is able to decide. ' +
  'If the requester is unknown, only administrators can decide. Repeating a decision has no effect.';

const body = {
  schema: Exact(
    {
      revision: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 2 ** 31 - 1,
          description:
            'The revision of the change that the caller has read. Default: the current revision.',
        }),
      ),
    },
    { title: 'ApprovalDecision' },
  ),
  example: {},
  optional: true,
} as const;

const approve = operation({
  method: 'post',
  path: `${path}/{approval_id}/approve`,
  operationId: 'approveApproval',
  summary: 'Approve a request',
  description:
    'An approved run starts the requested version as soon as a slot is free. An approved change is applied ' +
    'immediately; it is refused if the script has changed since the request, and the requester can then rebase or ' +
    `withdraw it. ${aboutDecisions}`,
  tag,
  access: { right: 'runs.start', session: true },
  parameters,
  body,
  responses: decided,
  refusals: ['approval_not_pending', 'approval_outdated', 'script_disabled', 'version_mismatch'],
  handle: (call, services) => decide('approved', call, services),
});

const reject = operation({
  method: 'post',
  path: `${path}/{approval_id}/reject`,
  operationId: 'rejectApproval',
  summary: 'Reject a request, or withdraw your own request',
  description: `A rejected or withdrawn run ends as \`stopped\`. ${aboutDecisions}`,
  tag,
  access: { right: 'runs.start', session: true },
  parameters,
  body,
  responses: decided,
  refusals: ['approval_not_pending'],
  handle: (call, services) => decide('rejected', call, services),
});

interface DecisionCall {
  readonly principal: Principal;
  readonly context: CommandContext;
  readonly parameters: { readonly approval_id: RunId };
  readonly body: { readonly revision?: number };
}

async function decide(
  wanted: 'approved' | 'rejected',
  { principal, context, parameters: { approval_id: id }, body }: DecisionCall,
  services: Services,
): Promise<Answer> {
  const { readModels, commands, clock } = services;
  const row = await visibleApproval(principal, id, readModels);
  if (row === undefined) return notFound;
  if (!hasRightAnywhere(principal, rightOf[row.kind])) return mayNotDecide;
  const { userId, role } = principal;
  const about = {
    scriptId: mustParse(parseScriptId, row.script_id),
    approver: { userId, isAdministrator: role === 'administrator' },
    at: clock.now().toISOString(),
  };
  const command = commandOf(wanted, row, about, body.revision);
  const outcome = accepted(await commands.execute(command, context));
  const after = await findApproval(readModels, id);
  if (after === undefined) return notFound;
  // A script's state contains only pending change requests, so repeating a decision is refused. The response is still
  // the approval, because the decision is already in effect.
  if (isProblem(outcome)) {
    const isRepeated = outcome.code === 'approval_not_pending' && after.status === wanted;
    return isRepeated ? await approvalReply(200, after, principal, services) : outcome;
  }
  return await approvalReply(200, after, principal, services, positionHeader(outcome));
}

const mayNotDecide = problem(
  'forbidden',
  'Only users who may change the script can decide this request.',
);

function commandOf(
  wanted: 'approved' | 'rejected',
  { approval_id: id, change }: ApprovalView,
  about: Pick<ApproveRun, 'scriptId' | 'approver' | 'at'>,
  seenRevision: number | undefined,
): Command {
  if (change === null) {
    const runId = mustParse(parseRunId, id);
    return { type: wanted === 'approved' ? 'ApproveRun' : 'RejectRun', runId, ...about };
  }
  const changeId = mustParse(parseChangeId, id);
  if (wanted === 'rejected') return { type: 'RejectChange', changeId, ...about };
  const { edits, revision } = change;
  return { type: 'ApproveChange', changeId, ...about, edits, revision: seenRevision ?? revision };
}

export const approvalOperations: readonly Operation[] = [list, get, approve, reject];
