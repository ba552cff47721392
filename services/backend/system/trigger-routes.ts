/** Pauses and resumes triggers. */
import type { CommandContext } from '#domain/ports/commands.ts';
import type { SystemCommand } from '#domain/system/commands.ts';
import { triggerState } from '#projections/trigger-state/queries.ts';
import { operation, type Operation } from '../http/operation.ts';
import { accepted, positionHeader } from '../http/outcome.ts';
import { isProblem } from '../http/problem.ts';
import { json, type Answer } from '../http/reply.ts';
import type { Services } from '../services.ts';
import { TriggerState } from './schema.ts';
import { triggersJson } from './view.ts';

const tag = 'System';
const shown = {
  description: 'Whether triggers are paused.',
  schema: TriggerState,
  headers: ['Orch-Position'],
} as const;

const pause = operation({
  method: 'post',
  path: '/api/v1/system/pause',
  operationId: 'pauseTriggers',
  summary: 'Pause all automatic triggers',
  description:
    'Schedules, webhooks, chains, retries and always-on scripts start no runs until triggers are ' +
    'resumed. ' +
    'Due retries wait. Active runs continue. Users, API tokens and job producers can still start runs.',
  tag,
  access: { right: 'system.manage' },
  responses: { 200: shown },
  handle: ({ context }, services) => change({ type: 'PauseTriggers' }, context, services),
});

const resume = operation({
  method: 'post',
  path: '/api/v1/system/resume',
  operationId: 'resumeTriggers',
  summary: 'Resume all automatic triggers',
  tag,
  access: { right: 'system.manage' },
  responses: { 200: shown },
  handle: ({ context }, services) => change({ type: 'ResumeTriggers' }, context, services),
});

async function change(
  command: SystemCommand,
  context: CommandContext,
  { commands, readModels }: Services,
): Promise<Answer> {
  const outcome = accepted(await commands.execute(command, context));
  if (isProblem(outcome)) return outcome;
  return json(200, triggersJson(await triggerState(readModels)), positionHeader(outcome));
}

export const triggerOperations: readonly Operation[] = [pause, resume];
