/** Scripts in a configuration, with their files. */
import { createHash } from 'node:crypto';
import type { Command } from '#domain/aggregates.ts';
import { defaultGroupId } from '#domain/group/seed.ts';
import { mustParse, parseGroupId, parseScriptId, type ScriptId } from '#domain/kernel/ids.ts';
import { isSameJson } from '#domain/kernel/json.ts';
import type { FileVersion } from '#domain/script/events.ts';
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
import type { PresentScript } from '#domain/script/state.ts';
import { configuredScripts, newestFiles, secretNames } from '#projections/configuration/queries.ts';
import { settingColumns, settingsOf } from '#projections/scripts/apply.ts';
import type { ScriptsTable } from '#projections/scripts/table.ts';
import { badField, fieldProblem, isProblem, type Problem } from '../../http/problem.ts';
import { parametersSchemaProblem } from '../../scripts/create-script.ts';
import { templateEntrypoint, templateFiles } from '../../templates/templates.ts';
import type { Given, Keeping, Kind, Present, Reading } from '../kind.ts';

type Script = Given<'scripts'>;

/** The fields of a script, except its files, as stored in events. */
interface Fields {
  readonly name: string;
  readonly description: string;
  readonly groupId: string;
  readonly enabled: boolean;
  readonly settings: ScriptSettings;
}

/** A file with its content. */
interface Content extends FileVersion {
  readonly content: Uint8Array;
}

const usual: Omit<Fields, 'name'> = {
  description: '',
  groupId: defaultGroupId,
  enabled: true,
  settings: defaultSettings,
};

export const scriptKind: Kind<'scripts'> = {
  kind: 'script',
  section: 'scripts',
  stream: 'script',
  present: async (reading) => {
    const { readModels } = reading.services;
    const [rows, files, secrets] = await Promise.all([
      configuredScripts(readModels),
      newestFiles(readModels),
      secretNames(readModels),
    ]);
    return rows.map((row) =>
      presentScript(row, files.get(row.script_id) ?? [], secrets.get(row.script_id) ?? [], reading),
    );
  },
  make: async (given, reading) => {
    const scriptId = mustParse(parseScriptId, given.id);
    const fields = fieldsOf(given, { ...usual, name: given.name });
    const unusable = await problemOf(given, fields, reading);
    if (unusable !== undefined) return unusable;
    const contents =
      given.files === undefined
        ? await template(fields.settings.entrypoint)
        : contentsOf(given.files);
    if (isProblem(contents)) return contents;
    const { name, description, groupId, settings, enabled } = fields;
    return {
      item: itemOf(given.id, fields, contents),
      missing: given.secrets ?? [],
      commands: async (keeping) => {
        await keep(scriptId, contents, keeping);
        const group = mustParse(parseGroupId, groupId);
        return [
          {
            type: 'CreateScript',
            scriptId,
            name,
            description,
            groupId: group,
            settings,
            files: contents.map(withoutContent),
          },
          ...(enabled ? [] : [{ type: 'DisableScript', scriptId } as const]),
        ];
      },
    };
  },
};

function presentScript(
  row: ScriptsTable,
  files: readonly FileVersion[],
  secrets: readonly string[],
  reading: Reading,
): Present<Script> {
  const scriptId = mustParse(parseScriptId, row.script_id);
  const present = presentFields(row);
  return {
    item: { ...itemOf(row.script_id, present, files), secrets, deleted: row.deleted },
    hidden: row.deleted,
    change: async (given) => {
      const fields = fieldsOf(given, present);
      const unusable = await problemOf(given, fields, reading, present.settings.entrypoint);
      if (unusable !== undefined) return unusable;
      const contents = contentsOf(given.files ?? []);
      if (isProblem(contents)) return contents;
      const isPruned = given.files !== undefined && reading.prune;
      const staying = files.filter(({ path }) => !contents.some((file) => file.path === path));
      const wanted = [...(isPruned ? [] : staying), ...contents];
      return {
        item: { ...itemOf(row.script_id, fields, wanted), secrets, deleted: false },
        missing: (given.secrets ?? []).filter((name) => !secrets.includes(name)),
        ...(row.protected.save && {
          note: 'The script is protected, so its code changes only after approval.',
        }),
        commands: async (keeping) => {
          const changed = contents.filter((file) => !files.some(isSameFileAs(file)));
          await keep(scriptId, changed, keeping);
          return [
            ...(row.deleted ? [{ type: 'RestoreScript', scriptId } as const] : []),
            ...settingsCommands(scriptId, present, fields),
            ...changed.map(
              (file) => ({ type: 'SaveFile', scriptId, ...withoutContent(file) }) as const,
            ),
            ...(isPruned ? staying : []).map(
              ({ path }) => ({ type: 'DeleteFile', scriptId, path }) as const,
            ),
            ...switchCommands(scriptId, present, fields),
          ];
        },
      };
    },
    remove: () => ({ type: 'DeleteScript', scriptId }),
  };
}

function settingsCommands(scriptId: ScriptId, present: Fields, wanted: Fields): readonly Command[] {
  const { enabled: _, ...before } = present;
  const { enabled: __, ...after } = wanted;
  if (isSameJson(before, after)) return [];
  const { groupId, ...changes } = after;
  return [
    { type: 'ChangeScript', scriptId, ...changes, groupId: mustParse(parseGroupId, groupId) },
  ];
}

function switchCommands(scriptId: ScriptId, present: Fields, wanted: Fields): readonly Command[] {
  if (present.enabled === wanted.enabled) return [];
  return [{ type: wanted.enabled ? 'EnableScript' : 'DisableScript', scriptId }];
}

function presentFields(row: ScriptsTable): Fields {
  return {
    name: row.name,
    description: row.description,
    groupId: row.group_id,
    enabled: row.enabled,
    settings: { ...settingsOf(row), limits: { ...defaultLimits, ...row.limits } },
  };
}

/** The fields after an import. Omitted fields are unchanged, including single limits and retry settings. */
function fieldsOf(given: Script, before: Fields): Fields {
  const { settings } = before;
  return {
    name: given.name,
    description: given.description ?? before.description,
    groupId: given.group_id ?? before.groupId,
    enabled: given.enabled ?? before.enabled,
    settings: {
      maxConcurrentRuns: given.max_concurrent_runs ?? settings.maxConcurrentRuns,
      storageQuotaBytes: given.storage_quota_bytes ?? settings.storageQuotaBytes,
      entrypoint: given.entrypoint ?? settings.entrypoint,
      limits: { ...settings.limits, ...given.limits },
      tags: given.tags ?? settings.tags,
      retry: { ...defaultRetry, ...settings.retry, ...given.retry },
      keepAlive: given.keep_alive ?? settings.keepAlive,
      environment: given.environment ?? settings.environment,
      python: given.python === undefined ? settings.python : given.python,
      startMode: given.start_mode ?? settings.startMode,
      resident: { ...settings.resident, ...given.resident },
      mergeStderr: given.merge_stderr ?? settings.mergeStderr,
      listenPorts: given.listen_ports ?? settings.listenPorts,
      runsOn: given.runs_on ?? settings.runsOn,
      pools: given.pools ?? settings.pools,
      protected: { ...settings.protected, ...given.protected },
      expectations: given.expectations ?? settings.expectations,
      parametersSchema: (given.parameters_schema === undefined
        ? settings.parametersSchema
        : given.parameters_schema) as ScriptSettings['parametersSchema'],
      resolution: settings.resolution,
    },
  };
}

/** Converts a script from the history to the document's format. */
export function scriptItem(
  id: string,
  { name, description, groupId, enabled, settings, files }: Omit<PresentScript, 'status'>,
) {
  const whole = { ...settings, limits: { ...defaultLimits, ...settings.limits } };
  const fields = { name, description, groupId, enabled, settings: whole };
  return itemOf(id, fields, [...files.values()]);
}

function itemOf(id: string, fields: Fields, files: readonly FileVersion[]) {
  const { name, description, groupId, enabled, settings } = fields;
  const { resolution: _, ...shown } = settingColumns(settings);
  return {
    id,
    name,
    description,
    group_id: groupId,
    enabled,
    ...shown,
    files: Object.fromEntries(
      files.map(({ path, sha256, sizeBytes }) => [path, { sha256, size_bytes: sizeBytes }]),
    ),
  };
}

async function problemOf(
  given: Script,
  { settings }: Fields,
  { services }: Reading,
  presentEntrypoint?: string,
): Promise<Problem | undefined> {
  // Accepts an unchanged entry point even if it is invalid, because earlier releases accepted such entry points.
  const isKept = settings.entrypoint === presentEntrypoint;
  const unusable = isKept ? undefined : entrypointProblem(settings.entrypoint);
  if (unusable !== undefined) return badField('entrypoint', unusable);
  const noPorts = listenPortsProblem(settings.listenPorts);
  if (noPorts !== undefined) return badField('listen_ports', noPorts);
  const noLabels = labelsProblem(settings.runsOn);
  if (noLabels !== undefined) return badField('runs_on', noLabels);
  const noExpectations = expectationsProblem(settings.expectations);
  if (noExpectations !== undefined) return badField('expectations', noExpectations);
  return await parametersSchemaProblem(given, services);
}

function contentsOf(files: NonNullable<Script['files']>): readonly Content[] | Problem {
  const contents: Content[] = [];
  for (const [index, { path, content, encoding = 'utf-8' }] of files.entries()) {
    const isBase64 = /^[A-Za-z0-9+/]*={0,2}$/.test(content) && content.length % 4 === 0;
    if (encoding === 'base64' && !isBase64)
      return fieldProblem(`files/${index}/content`, 'is not base64');
    contents.push(versionOf(path, Buffer.from(content, encoding)));
  }
  return contents;
}

async function template(entrypoint: string): Promise<readonly Content[]> {
  return (await templateFiles()).map(({ path, content }) =>
    versionOf(path === templateEntrypoint ? entrypoint : path, content),
  );
}

function versionOf(path: string, content: Uint8Array): Content {
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { path, sha256, sizeBytes: content.length, content };
}

function withoutContent({ path, sha256, sizeBytes }: Content): FileVersion {
  return { path, sha256, sizeBytes };
}

const isSameFileAs = (one: FileVersion) => (other: FileVersion) =>
  one.path === other.path && one.sha256 === other.sha256;

async function keep(
  scriptId: ScriptId,
  files: readonly Content[],
  keeping: Keeping,
): Promise<void> {
  const contents = new Map(files.map((file) => [file.sha256, file.content]));
  for (const [sha256, content] of contents) await keeping.file(scriptId, sha256, content);
}
