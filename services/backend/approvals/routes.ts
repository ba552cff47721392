/** Approvals: a second person approves or rejects a requested run. */
import type { Principal } from '#domain/kernel/actor.ts';
import { mustParse, parseRunId, parseScriptId, type RunId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { findApproval, listApprovals, type ApprovalView } from '#projections/approvals/queries.ts';
import Type from 'typebox';
import { isIn, visibleGroups } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { accepted, positionHeader } from '../http/outcome.ts';
import { defaultLimit, keyOf, onePage, pageReply } from '../http/paging.ts';
import { isProblem, notFound } from '../http/problem.ts';
import { json, type Answer } from '../http/reply.ts';
import { Exact, pageQuery, pathParameters, Uuid } from '../http/schema.ts';
import type { Services } from '../services.ts';
import { Approval, ApprovalPage, ApprovalStatusSchema } from './schema.ts';
import { approvalsJson } from './view.ts';

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
    const row = await visibleApproval(principal, id, services);
    return row === undefined ? notFound : await shown(row, principal, services);
  },
});

const aboutDecisions =
  'Requires a sign-in: API tokens cannot decide requests. Requesters cannot approve their own ' +
  'requests, unless no other user is able to decide. ' +
  'If the requester is unknown, only administrators can decide. Repeating a decision has no effect.';

const decided = {
  200: { description: 'The approval.', schema: Approval, headers: ['Orch-Position'] },
} as const;

const body = {
  schema: Type.Object({}, { additionalProperties: false }),
  example: {},
  optional: true,
} as const;

const approve = operation({
  method: 'post',
  path: `${path}/{approval_id}/approve`,
  operationId: 'approveApproval',
  summary: 'Approve a requested run',
  description: `The run starts the requested version as soon as a slot is free. ${aboutDecisions}`,
  tag,
  access: { right: 'runs.start', session: true },
  parameters,
  body,
  responses: decided,
  refusals: ['approval_not_pending', 'script_disabled'],
  handle: (call, services) => decide('ApproveRun', call, services),
});

const reject = operation({
  method: 'post',
  path: `${path}/{approval_id}/reject`,
  operationId: 'rejectApproval',
  summary: 'Reject a request, or withdraw your own request',
  description: `The run ends as \`stopped\`. ${aboutDecisions}`,
  tag,
  access: { right: 'runs.start', session: true },
  parameters,
  body,
  responses: decided,
  refusals: ['approval_not_pending'],
  handle: (call, services) => decide('RejectRun', call, services),
});

interface DecisionCall {
  readonly principal: Principal;
  readonly context: CommandContext;
  readonly parameters: { readonly approval_id: RunId };
}

async function decide(
  type: 'ApproveRun' | 'RejectRun',
  { principal, context, parameters: { approval_id: runId } }: DecisionCall,
  services: Services,
): Promise<Answer> {
  const row = await visibleApproval(principal, runId, services);
  if (row === undefined) return notFound;
  const { userId, role } = principal;
  const command = {
    type,
    runId,
    scriptId: mustParse(parseScriptId, row.script_id),
    approver: { userId, isAdministrator: role === 'administrator' },
    at: services.clock.now().toISOString(),
  };
  const outcome = accepted(await services.commands.execute(command, context));
  if (isProblem(outcome)) return outcome;
  const after = await findApproval(services.readModels, runId);
  if (after === undefined) return notFound;
  return await shown(after, principal, services, positionHeader(outcome));
}

async function visibleApproval(
  principal: Principal,
  runId: RunId,
  { readModels }: Services,
): Promise<ApprovalView | undefined> {
  const row = await findApproval(readModels, runId);
  return row !== undefined && isIn(principal, row.group_id) ? row : undefined;
}

async function shown(
  row: ApprovalView,
  principal: Principal,
  services: Services,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const [item] = await approvalsJson([row], principal, services);
  return json(200, item, headers);
}

export const approvalOperations: readonly Operation[] = [list, get, approve, reject];
