/** Creates scripts. */
import { createHash } from 'node:crypto';
import { defaultGroupId } from '#domain/group/seed.ts';
import type { Principal } from '#domain/kernel/actor.ts';
import {
  mustParse,
  parseGroupId,
  parseScriptId,
  type GroupId,
  type ScriptId,
} from '#domain/kernel/ids.ts';
import { canSeeGroup } from '#domain/kernel/rights.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { CreateScript } from '#domain/script/commands.ts';
import { environmentProblem } from '#domain/script/environment.ts';
import { expectationsProblem } from '#domain/script/expectations.ts';
import { labelsProblem } from '#domain/script/labels.ts';
import { entrypointProblem } from '#domain/script/path.ts';
import {
  defaultLimits,
  defaultRetry,
  defaultSettings,
  listenPortsProblem,
  type ScriptSettings,
} from '#domain/script/settings.ts';
import type { Static } from 'typebox';
import { protectionProblem } from '../access/protected-scripts.ts';
import { badField, isProblem, type Problem } from '../http/problem.ts';
import { toAsyncIterable } from '../http/wire/spool.ts';
import type { Services } from '../services.ts';
import {
  templateEntrypoint,
  templateFiles,
  templateStartMode,
  type TemplateId,
} from '../templates/templates.ts';
import { recordScript, type RecordedScript } from './record-script.ts';
import type { NewScript } from './schema.ts';

export interface NewScriptCall {
  readonly principal: Principal;
  readonly context: CommandContext;
  readonly body: Static<typeof NewScript>;
}

/** Creates a script from a request body and its template. */
export async function createScript(
  call: NewScriptCall,
  services: Services,
): Promise<RecordedScript | Problem> {
  const groupId = groupFor(call.principal, call.body.group_id);
  if (isProblem(groupId)) return groupId;
  const entrypoint = call.body.entrypoint ?? defaultSettings.entrypoint;
  const unusable = entrypointProblem(entrypoint);
  if (unusable !== undefined) return badField('entrypoint', unusable);
  const refused = environmentProblem(call.body.environment ?? {});
  if (refused !== undefined) return badField('environment', refused);
  const noPorts = listenPortsProblem(call.body.listen_ports ?? []);
  if (noPorts !== undefined) return badField('listen_ports', noPorts);
  const noLabels = labelsProblem(call.body.runs_on ?? []);
  if (noLabels !== undefined) return badField('runs_on', noLabels);
  const noExpectations = expectationsProblem(call.body.expectations ?? []);
  if (noExpectations !== undefined) return badField('expectations', noExpectations);
  const noSchema = await parametersSchemaProblem(call.body, services);
  if (noSchema !== undefined) return noSchema;
  const denied = protectionProblem(call.body, call.principal);
  if (denied !== undefined) return denied;
  const { files, contents } = await startingFiles(call.body.template, entrypoint);
  const scriptId = mustParse(parseScriptId, services.ids.next());
  const command = newScript(call, scriptId, groupId, { entrypoint, files });
  const contentOf = async (sha256: string) =>
    toAsyncIterable(contents.get(sha256) ?? new Uint8Array());
  return await recordScript(command, contentOf, call.context, services);
}

interface StartingFiles {
  readonly files: CreateScript['files'];
  /** File contents by SHA-256. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

/** The initial files from the template, or the files of an empty script. */
export async function startingFiles(
  template: TemplateId | undefined,
  entrypoint: string,
): Promise<StartingFiles> {
  const files = (await templateFiles(template)).map(({ path, content }) => ({
    path: path === templateEntrypoint ? entrypoint : path,
    sha256: createHash('sha256').update(content).digest('hex'),
    sizeBytes: content.length,
    content,
  }));
  return {
    files: files.map(({ content: _, ...file }) => file),
    contents: new Map(files.map(({ sha256, content }) => [sha256, content])),
  };
}

function newScript(
  { body }: NewScriptCall,
  scriptId: ScriptId,
  groupId: GroupId,
  { entrypoint, files }: Pick<CreateScript, 'files'> & { readonly entrypoint: string },
): CreateScript {
  return {
    type: 'CreateScript',
    scriptId,
    name: body.name,
    description: body.description ?? '',
    groupId,
    settings: {
      maxConcurrentRuns: body.max_concurrent_runs ?? defaultSettings.maxConcurrentRuns,
      storageQuotaBytes: body.storage_quota_bytes ?? defaultSettings.storageQuotaBytes,
      entrypoint,
      limits: { ...defaultLimits, ...body.limits },
      tags: body.tags ?? [],
      retry: { ...defaultRetry, ...body.retry },
      keepAlive: body.keep_alive ?? false,
      environment: body.environment ?? {},
      python: body.python ?? null,
      startMode: body.start_mode ?? templateStartMode(body.template),
      resident: { ...defaultSettings.resident, ...body.resident },
      mergeStderr: body.merge_stderr ?? false,
      listenPorts: body.listen_ports ?? defaultSettings.listenPorts,
      runsOn: body.runs_on ?? defaultSettings.runsOn,
      pools: body.pools ?? defaultSettings.pools,
      protected: { ...defaultSettings.protected, ...body.protected },
      expectations: body.expectations ?? defaultSettings.expectations,
      parametersSchema: (body.parameters_schema ?? null) as ScriptSettings['parametersSchema'],
      resolution: null,
    },
    files,
  };
}

/** The problem with a parameter schema in a body, if any. */
export async function parametersSchemaProblem(
  { parameters_schema: schema }: Pick<Static<typeof NewScript>, 'parameters_schema'>,
  { parameterSchemas }: Services,
): Promise<Problem | undefined> {
  if (schema === undefined || schema === null) return undefined;
  return await parameterSchemas.schemaProblem(schema, 'parameters_schema');
}

/** The group with this ID. Default: `custom` if the caller can see it, otherwise the caller's first group. */
export function groupFor(principal: Principal, named: string | undefined): GroupId | Problem {
  if (named !== undefined) return visibleGroupId(principal, named);
  if (canSeeGroup(principal, defaultGroupId)) return defaultGroupId;
  return principal.groupIds[0] ?? badField('group_id', 'you have no group to create scripts in');
}

/** The ID of a group in a body. Groups that the caller cannot see are reported as nonexistent. */
export function visibleGroupId(principal: Principal, text: string): GroupId | Problem {
  const groupId = parseGroupId(text);
  return groupId !== undefined && canSeeGroup(principal, groupId)
    ? groupId
    : badField('group_id', 'group not found');
}
