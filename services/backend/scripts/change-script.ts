/** Applies a JSON merge patch to a script. */
import type { Principal } from '#domain/kernel/actor.ts';
import { mustParse, parseCommandId, type ScriptId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { Edit } from '#domain/script/commands.ts';
import { environmentProblem, type EnvironmentVariables } from '#domain/script/environment.ts';
import { expectationsProblem } from '#domain/script/expectations.ts';
import { labelsProblem } from '#domain/script/labels.ts';
import { entrypointProblem } from '#domain/script/path.ts';
import { defaultLimits, listenPortsProblem, type ScriptSettings } from '#domain/script/settings.ts';
import type { ScriptView } from '#projections/scripts/queries.ts';
import type { Static } from 'typebox';
import { editOf, executeEdit, type Edited } from '../access/edit-script.ts';
import { visibleScript } from '../access/visibility.ts';
import { versionOf } from '../http/conditional.ts';
import { accepted } from '../http/outcome.ts';
import { isProblem, notFound, badField, type Problem } from '../http/problem.ts';
import type { Services } from '../services.ts';
import { protectionProblem } from '../access/protected-scripts.ts';
import { parametersSchemaProblem, visibleGroupId } from './create-script.ts';
import type { ScriptChanges } from './schema.ts';

type Changes = Static<typeof ScriptChanges>;

export interface ChangeCall {
  readonly principal: Principal;
  readonly context: CommandContext;
  readonly parameters: { readonly id: ScriptId };
  readonly body: Changes;
  readonly header: (name: string) => string | undefined;
}

/** Changes the settings first. If the settings are refused, the script is neither enabled nor disabled. */
export async function changeScript(
  call: ChangeCall,
  services: Services,
): Promise<Edited | Problem> {
  const { body, context, parameters } = call;
  const edited = await changeSettings(call, services, 5);
  if (isProblem(edited) || body.enabled === undefined) return edited;
  const type = body.enabled ? 'EnableScript' : 'DisableScript';
  const commandId = mustParse(parseCommandId, services.ids.derived(context.commandId, type));
  const command = { type, scriptId: parameters.id } as const;
  const outcome = accepted(await services.commands.execute(command, { ...context, commandId }));
  return isProblem(outcome) ? outcome : { ...edited, outcome };
}

async function changeSettings(
  call: ChangeCall,
  services: Services,
  attempts: number,
): Promise<Edited | Problem> {
  const script = await visibleScript(call.principal, call.parameters.id, services.readModels);
  if (script === undefined) return notFound;
  const condition = versionOf(call.header('If-Match'));
  if (isProblem(condition)) return condition;
  const noSchema = await parametersSchemaProblem(call.body, services);
  if (noSchema !== undefined) return noSchema;
  const denied = protectionProblem(call.body, call.principal, script);
  if (denied !== undefined) return denied;
  const change = changeOf(call, script);
  if (isProblem(change)) return change;
  // These fields are merged with the current version, which must still be current when the change is written.
  const { limits, retry, environment, protected: guarded, keep_alive: alwaysOn } = call.body;
  const isMerged = [limits, retry, environment, guarded, alwaysOn].some((one) => one !== undefined);
  const merged = isMerged ? script.version : undefined;
  const expectedVersion = condition.version ?? merged;
  const command = editOf(call.parameters.id, [change], expectedVersion, call.context, services);
  const edited = await executeEdit(command, call.context, services);
  const isOutdated = isProblem(edited) && edited.code === 'version_mismatch';
  return isOutdated && condition.version === undefined && attempts > 1
    ? await changeSettings(call, services, attempts - 1)
    : edited;
}

function changeOf(call: ChangeCall, script: ScriptView): Edit | Problem {
  const { body, principal } = call;
  const unusable = body.entrypoint === undefined ? undefined : entrypointProblem(body.entrypoint);
  if (unusable !== undefined) return badField('entrypoint', unusable);
  const groupId =
    body.group_id === undefined ? undefined : visibleGroupId(principal, body.group_id);
  if (isProblem(groupId)) return groupId;
  const settings = settingsOf(body, script);
  const refused = environmentProblem(settings.environment ?? {});
  if (refused !== undefined) return badField('environment', refused);
  const noPorts = listenPortsProblem(settings.listenPorts ?? []);
  if (noPorts !== undefined) return badField('listen_ports', noPorts);
  const noLabels = labelsProblem(settings.runsOn ?? []);
  if (noLabels !== undefined) return badField('runs_on', noLabels);
  const noExpectations = expectationsProblem(settings.expectations ?? []);
  if (noExpectations !== undefined) return badField('expectations', noExpectations);
  return {
    type: 'ChangeScript',
    ...(body.name !== undefined && { name: body.name }),
    ...(body.description !== undefined && { description: body.description }),
    ...(groupId !== undefined && { groupId }),
    settings,
  };
}

function settingsOf(body: Changes, script: ScriptView): Partial<ScriptSettings> {
  const { max_concurrent_runs, storage_quota_bytes, entrypoint, limits, tags } = body;
  const { retry, keep_alive, environment, python, start_mode, resident } = body;
  const { listen_ports, parameters_schema } = body;
  const { runs_on, pools, expectations, merge_stderr } = body;
  return {
    ...(max_concurrent_runs !== undefined && { maxConcurrentRuns: max_concurrent_runs }),
    ...(storage_quota_bytes !== undefined && { storageQuotaBytes: storage_quota_bytes }),
    ...(entrypoint !== undefined && { entrypoint }),
    ...(limits !== undefined && { limits: { ...defaultLimits, ...script.limits, ...limits } }),
    ...(tags !== undefined && { tags }),
    ...(retry !== undefined && { retry: { ...script.retry, ...retry } }),
    ...(keep_alive !== undefined && { keepAlive: keep_alive }),
    ...(environment !== undefined && { environment: patched(script.environment, environment) }),
    ...(python !== undefined && { python }),
    ...(start_mode !== undefined && { startMode: start_mode }),
    ...(resident !== undefined && { resident: { ...script.resident, ...resident } }),
    ...(merge_stderr !== undefined && { mergeStderr: merge_stderr }),
    ...(listen_ports !== undefined && { listenPorts: listen_ports }),
    ...(runs_on !== undefined && { runsOn: runs_on }),
    ...(pools !== undefined && { pools }),
    ...(expectations !== undefined && { expectations }),
    ...(body.protected !== undefined && { protected: { ...script.protected, ...body.protected } }),
    ...(parameters_schema !== undefined && {
      parametersSchema: parameters_schema as ScriptSettings['parametersSchema'],
    }),
  };
}

/** The variables after a merge patch (RFC 7396). `null` removes a variable. */
function patched(
  present: EnvironmentVariables,
  changes: Readonly<Record<string, string | null>>,
): EnvironmentVariables {
  return Object.fromEntries(
    Object.entries({ ...present, ...changes }).filter(
      (entry): entry is [string, string] => entry[1] !== null,
    ),
  );
}
