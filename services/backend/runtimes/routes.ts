/** Lists, drains and resumes runtimes. */
import type { RuntimeCommand } from '#domain/runtime/commands.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import {
  isKnownRuntime,
  listRuntimeLoads,
  type RuntimeLoad,
} from '#infra/postgres/queue/runtimes.ts';
import { operation, type Operation } from '../http/operation.ts';
import { noContent } from '../http/outcome.ts';
import { notFound } from '../http/problem.ts';
import { json, type Answer } from '../http/reply.ts';
import { pathParameters } from '../http/schema.ts';
import type { Services } from '../services.ts';
import { RuntimeItems } from './schema.ts';

const tag = 'System';
const path = '/api/v1/runtimes';
const parameters = { runtime_id: pathParameters.runtimeId };
const done = {
  204: { description: 'The state was changed.', headers: ['Orch-Position'] },
} as const;

const list = operation({
  method: 'get',
  path,
  operationId: 'listRuntimes',
  summary: 'List the live runtimes with their labels and runs',
  description: 'A runtime is live if it reported within the last minute.',
  tag,
  access: { right: 'system.read' },
  responses: { 200: { description: 'The runtimes.', schema: RuntimeItems } },
  handle: async (_call, { database }) =>
    json(200, { items: (await listRuntimeLoads(database)).map(runtimeJson) }),
});

function runtimeJson({ runtime_id, drained, active_runs, ...runtime }: RuntimeLoad) {
  const drainState = active_runs > 0 ? 'draining' : 'drained';
  const state = drained ? drainState : 'active';
  return { runtime_id, id: runtime_id, state, active_runs, ...runtime };
}

const drain = operation({
  method: 'post',
  path: `${path}/{runtime_id}/drain`,
  operationId: 'drainRuntime',
  summary: 'Drain a runtime',
  description:
    'The runtime finishes its runs and claims no new ones until it is resumed, even if it restarts.',
  tag,
  access: { right: 'system.manage' },
  parameters,
  responses: done,
  handle: ({ parameters: { runtime_id: runtimeId }, context }, services) =>
    change({ type: 'DrainRuntime', runtimeId }, context, services),
});

const resume = operation({
  method: 'delete',
  path: `${path}/{runtime_id}/drain`,
  operationId: 'resumeRuntime',
  summary: 'Resume a drained runtime',
  tag,
  access: { right: 'system.manage' },
  parameters,
  responses: done,
  handle: ({ parameters: { runtime_id: runtimeId }, context }, services) =>
    change({ type: 'ResumeRuntime', runtimeId }, context, services),
});

async function change(
  command: RuntimeCommand,
  context: CommandContext,
  { commands, database }: Services,
): Promise<Answer> {
  if (!(await isKnownRuntime(database, command.runtimeId))) return notFound;
  return noContent(await commands.execute(command, context));
}

export const runtimeOperations: readonly Operation[] = [list, drain, resume];
