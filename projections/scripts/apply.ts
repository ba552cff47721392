import type { Recorded } from '#domain/aggregates.ts';
import type { ChangeEvent, FileVersion, ScriptEvent } from '#domain/script/events.ts';
import { defaultSettings, type ScriptSettings } from '#domain/script/settings.ts';
import { sql } from 'kysely';
import { actorName } from '../actors.ts';
import type { Projection, ReadModels } from '../projection.ts';
import { rowProjection, unnested } from '../rows.ts';
import { scriptColumns, type ScriptsTable } from './table.ts';

// Events about pending changes are applied to the table `approvals` instead.
type ScriptRecorded = Recorded<Exclude<ScriptEvent, ChangeEvent>>;

/** Builds the scripts, for lists and for the admission of runs. Rows of deleted scripts remain and are marked as
 *  deleted. */
export const scriptsProjection: Projection = rowProjection<ScriptsTable, ScriptRecorded>({
  name: 'scripts',
  version: 1,
  table: 'scripts',
  key: 'script_id',
  columns: scriptColumns,
  handles: [
    'ScriptCreated',
    'ScriptChanged',
    'FileSaved',
    'FileDeleted',
    'FileMoved',
    'FilesRestored',
    'ScriptEnabled',
    'ScriptDisabled',
    'ScriptDeleted',
    'ScriptRestored',
    'ScriptPurged',
    'ScriptPurgeFinished',
    'ScriptSourceChanged',
  ],
  keyOf: (event) => event.data.scriptId,
  step,
});

function step(row: ScriptsTable | undefined, event: ScriptRecorded): ScriptsTable | undefined {
  if (event.type === 'ScriptCreated') return created(event);
  if (row === undefined) return undefined;
  const touched = {
    ...row,
    updated_at: event.recordedAt,
    updated_by: actorName(event.metadata.actor),
  };
  switch (event.type) {
    case 'ScriptChanged':
      return {
        ...touched,
        name: event.data.name ?? row.name,
        description: event.data.description ?? row.description,
        group_id: event.data.groupId ?? row.group_id,
        ...settingColumns({ ...settingsOf(row), ...event.data.settings }),
        ...(event.data.settings?.expectations && {
          expectations_since: checkedSince(event.data.settings.expectations, event),
        }),
        version: event.data.version,
      };
    case 'FileSaved':
    case 'FileDeleted':
    case 'FileMoved':
    case 'FilesRestored':
      return { ...touched, version: event.data.version };
    case 'ScriptEnabled':
      return {
        ...touched,
        enabled: true,
        expectations_since: checkedSince(row.expectations, event),
      };
    case 'ScriptDisabled':
      return { ...touched, enabled: false };
    case 'ScriptDeleted':
      return { ...touched, deleted: true };
    case 'ScriptRestored':
      return {
        ...touched,
        deleted: false,
        expectations_since: checkedSince(row.expectations, event),
      };
    case 'ScriptPurged':
      return { ...touched, purge: 'started' };
    case 'ScriptPurgeFinished':
      return { ...touched, purge: 'finished' };
    case 'ScriptSourceChanged':
      return { ...touched, source: event.data.source };
  }
}

function created(event: Extract<ScriptRecorded, { type: 'ScriptCreated' }>): ScriptsTable {
  const actor = actorName(event.metadata.actor);
  const settings = { ...defaultSettings, ...event.data.settings };
  return {
    script_id: event.data.scriptId,
    stream_version: event.version,
    name: event.data.name,
    description: event.data.description,
    group_id: event.data.groupId,
    enabled: true,
    deleted: false,
    purge: null,
    ...settingColumns(settings),
    expectations_since: checkedSince(settings.expectations, event),
    source: null,
    version: 1,
    created_at: event.recordedAt,
    created_by: actor,
    updated_at: event.recordedAt,
    updated_by: actor,
  };
}

function checkedSince(
  expectations: ScriptSettings['expectations'],
  { recordedAt }: ScriptRecorded,
): Date | null {
  return expectations.length > 0 ? recordedAt : null;
}

/** Converts settings to the columns of a row. */
export function settingColumns(settings: ScriptSettings) {
  return {
    max_concurrent_runs: settings.maxConcurrentRuns,
    storage_quota_bytes: settings.storageQuotaBytes,
    entrypoint: settings.entrypoint,
    limits: settings.limits,
    tags: settings.tags,
    retry: settings.retry,
    keep_alive: settings.keepAlive,
    environment: settings.environment,
    python: settings.python,
    start_mode: settings.startMode,
    resident: settings.resident,
    merge_stderr: settings.mergeStderr,
    listen_ports: settings.listenPorts,
    runs_on: settings.runsOn,
    pools: settings.pools,
    protected: settings.protected,
    expectations: settings.expectations,
    parameters_schema: settings.parametersSchema,
    resolution: settings.resolution,
  };
}

/** Converts the columns of a row to settings. */
export function settingsOf(row: ScriptsTable): ScriptSettings {
  return {
    maxConcurrentRuns: row.max_concurrent_runs,
    storageQuotaBytes: row.storage_quota_bytes,
    entrypoint: row.entrypoint,
    limits: row.limits,
    tags: row.tags,
    retry: row.retry,
    keepAlive: row.keep_alive,
    environment: row.environment,
    python: row.python,
    startMode: row.start_mode,
    resident: row.resident,
    mergeStderr: row.merge_stderr,
    listenPorts: row.listen_ports,
    runsOn: row.runs_on,
    pools: row.pools,
    protected: row.protected,
    expectations: row.expectations,
    parametersSchema: row.parameters_schema,
    resolution: row.resolution,
  };
}

/** Builds every version of every file. In the version in which a file was deleted, the file has no content. */
export const scriptFilesProjection: Projection = {
  name: 'script_files',
  version: 1,
  handles: ['ScriptCreated', 'FileSaved', 'FileDeleted', 'FileMoved', 'FilesRestored'],
  tables: ['script_files'],
  apply: (db, events) => insertFiles(db, (events as readonly ScriptRecorded[]).flatMap(savedFiles)),
};

interface SavedFile extends Omit<FileVersion, 'sha256'> {
  readonly scriptId: string;
  readonly version: number;
  /** `null` if the file was deleted in this version. */
  readonly sha256: string | null;
  readonly savedAt: Date;
}

function savedFiles(event: ScriptRecorded): readonly SavedFile[] {
  const { scriptId } = event.data;
  const savedAt = event.recordedAt;
  const gone = { sha256: null, sizeBytes: 0, scriptId, savedAt };
  switch (event.type) {
    case 'ScriptCreated':
      return event.data.files.map((file) => ({ ...file, scriptId, version: 1, savedAt }));
    case 'FileSaved':
      return [{ ...event.data, savedAt }];
    case 'FileDeleted':
      return [{ ...gone, ...event.data }];
    case 'FileMoved': {
      const { from, ...file } = event.data;
      return [
        { ...gone, path: from, version: file.version },
        { ...file, savedAt },
      ];
    }
    case 'FilesRestored': {
      const { version, saved, deleted } = event.data;
      return [
        ...deleted.map((path) => ({ ...gone, path, version })),
        ...saved.map((file) => ({ ...file, scriptId, version, savedAt })),
      ];
    }
    case 'ScriptChanged':
    case 'ScriptEnabled':
    case 'ScriptDisabled':
    case 'ScriptDeleted':
    case 'ScriptRestored':
    case 'ScriptPurged':
    case 'ScriptPurgeFinished':
    case 'ScriptSourceChanged':
      return [];
  }
}

async function insertFiles(db: ReadModels, files: readonly SavedFile[]): Promise<void> {
  if (files.length === 0) return;
  const columns = [
    unnested(
      'uuid',
      files.map((file) => file.scriptId),
    ),
    unnested(
      'text',
      files.map((file) => file.path),
    ),
    unnested(
      'integer',
      files.map((file) => file.version),
    ),
    unnested(
      'text',
      files.map((file) => file.sha256),
    ),
    unnested(
      'bigint',
      files.map((file) => file.sizeBytes),
    ),
    unnested(
      'timestamptz',
      files.map((file) => file.savedAt),
    ),
  ];
  await sql`
    INSERT INTO script_files (script_id, path, version, sha256, size_bytes, saved_at)
    SELECT * FROM unnest(${sql.join(columns)}) ON CONFLICT DO NOTHING`.execute(db);
}
