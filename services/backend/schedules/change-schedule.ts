/** Creates and changes schedules. */
import type { Principal } from '#domain/kernel/actor.ts';
import { mustParse, parseScheduleId, parseScriptId, type ScheduleId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { ScheduleCommand } from '#domain/schedule/commands.ts';
import { findSchedule, type ScheduleView } from '#projections/schedules/queries.ts';
import type { Static } from 'typebox';
import { automationProblem } from '../access/protected-scripts.ts';
import { isIn, canSeeScript } from '../access/visibility.ts';
import { versionOf } from '../http/conditional.ts';
import { accepted, type Accepted } from '../http/outcome.ts';
import { badField, fieldProblem, isProblem, notFound, type Problem } from '../http/problem.ts';
import { triggerParams, type TriggerParams } from '../runs/trigger-params.ts';
import type { Services } from '../services.ts';
import { definitionOf } from './definition.ts';
import type { NewSchedule, ScheduleChanges } from './schema.ts';

interface Asking {
  readonly principal: Principal;
  readonly context: CommandContext;
}

/** A schedule that is visible to the caller. */
export async function visibleSchedule(
  principal: Principal,
  scheduleId: ScheduleId,
  { readModels }: Services,
): Promise<ScheduleView | undefined> {
  const schedule = await findSchedule(readModels, scheduleId);
  if (schedule === undefined || schedule.deleted || schedule.script_deleted) return undefined;
  return isIn(principal, schedule.group_id) ? schedule : undefined;
}

export async function createSchedule(
  call: Asking & { readonly body: Static<typeof NewSchedule> },
  services: Services,
): Promise<Accepted | Problem> {
  const { script_id, params: given, ...changes } = call.body;
  const scriptId = parseScriptId(script_id);
  if (
    scriptId === undefined ||
    !(await canSeeScript(call.principal, scriptId, services.readModels))
  )
    return badField('script_id', 'script not found');
  const denied = await automationProblem(scriptId, call.principal, services);
  if (denied !== undefined) return denied;
  const definition = definitionOf(changes, undefined);
  if (isProblem(definition)) return definition;
  if (isPast(changes, services)) return oncePast;
  const params = await triggerParams(scriptId, given ?? null, services);
  if (isProblem(params)) return params;
  const scheduleId = mustParse(parseScheduleId, services.ids.next());
  const defined = { ...definition, paramsSha256: params.sha256 };
  const command = { type: 'CreateSchedule', scheduleId, scriptId, definition: defined } as const;
  return await execute(command, params, call, services);
}

export interface ChangeCall extends Asking {
  readonly parameters: { readonly schedule_id: ScheduleId };
  readonly body: Static<typeof ScheduleChanges>;
  readonly header: (name: string) => string | undefined;
}

/** Changes a schedule. Changes are merged with the version that was read. If that version is no longer the current one,
 *  the change is retried. */
export async function changeSchedule(
  call: ChangeCall,
  services: Services,
  attempts = 5,
): Promise<Accepted | Problem> {
  const scheduleId = call.parameters.schedule_id;
  const present = await visibleSchedule(call.principal, scheduleId, services);
  if (present === undefined) return notFound;
  const condition = versionOf(call.header('If-Match'));
  if (isProblem(condition)) return condition;
  const scriptId = mustParse(parseScriptId, present.script_id);
  const denied = isDisabling(call.body)
    ? undefined
    : await automationProblem(scriptId, call.principal, services);
  if (denied !== undefined) return denied;
  const { params: given, ...changes } = call.body;
  const definition = definitionOf(changes, present.definition);
  if (isProblem(definition)) return definition;
  if (isPast(changes, services)) return oncePast;
  const params =
    given === undefined
      ? { sha256: present.params_sha256, content: undefined }
      : await triggerParams(scriptId, given, services);
  if (isProblem(params)) return params;
  const command: ScheduleCommand = {
    type: 'ChangeSchedule',
    scheduleId,
    scriptId,
    definition: { ...definition, paramsSha256: params.sha256 },
    expectedVersion: condition.version ?? present.version,
  };
  const outcome = await execute(command, params, call, services);
  const isOutdated = isProblem(outcome) && outcome.code === 'version_mismatch';
  return isOutdated && condition.version === undefined && attempts > 1
    ? await changeSchedule(call, services, attempts - 1)
    : outcome;
}

/** Whether the change only disables the schedule. Every user who may manage schedules may disable a schedule, even
 *  if its script is protected. */
function isDisabling(changes: Static<typeof ScheduleChanges>): boolean {
  return changes.enabled === false && Object.keys(changes).length === 1;
}

const oncePast = fieldProblem('once_at', 'is in the past, so the schedule would never be due');

function isPast({ once_at }: Static<typeof ScheduleChanges>, { clock }: Services): boolean {
  return typeof once_at === 'string' && Date.parse(once_at) <= clock.now().getTime();
}

async function execute(
  command: ScheduleCommand,
  { content }: TriggerParams,
  { context }: Asking,
  { commands }: Services,
): Promise<Accepted | Problem> {
  return accepted(await commands.execute(command, context, content));
}
