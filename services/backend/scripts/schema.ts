/** The wire format of scripts and their files (contract §3, "Script"). */
import { runStatuses } from '#domain/run/run.ts';
import { defaultLimits, defaultRetry, defaultSettings } from '#domain/script/settings.ts';
import Type from 'typebox';
import { Exact, examples, Nullable, Page, Sha256, Time, Uuid, OneLine } from '../http/schema.ts';
import { templateIds } from '../templates/templates.ts';
import {
  entrypoint,
  environment,
  environmentChanges,
  keepAlive,
  Limits,
  maxConcurrentRuns,
  parametersSchema,
  python,
  Retry,
  settings,
  Resident,
  startMode,
  listenPorts,
  mergeStderr,
  runsOn,
  pools,
  protection,
  expectations,
  storageQuota,
  tags,
} from './settings-schema.ts';

const name = OneLine(200);
const description = Type.String({ maxLength: 10_000 });

const templateId = Type.Enum([...templateIds]);

export const NewScript = Exact(
  {
    name,
    description: Type.Optional(description),
    group_id: Type.Optional(
      Uuid('Default: the group `custom`, or your first group if you are not a member of `custom`.'),
    ),
    template: Type.Optional(templateId),
    ...settings,
    environment: Type.Optional(environment),
  },
  { title: 'ScriptInput' },
);

export const ScriptCopy = Exact(
  {
    name: Type.Optional(name),
    group_id: Type.Optional(Uuid('Default: the group of the script.')),
  },
  { title: 'ScriptCopy' },
);

export const ScriptChanges = Exact(
  {
    name: Type.Optional(name),
    description: Type.Optional(description),
    group_id: Type.Optional(Uuid()),
    enabled: Type.Optional(Type.Boolean()),
    ...settings,
    environment: Type.Optional(environmentChanges),
  },
  {
    title: 'ScriptChanges',
    description: 'A JSON merge patch (RFC 7396). Omitted fields stay unchanged.',
  },
);

export const scriptExample = {
  id: examples.scriptId,
  name: 'Price watcher',
  description: 'Reads prices every hour.',
  group_id: examples.groupId,
  group: 'custom',
  enabled: true,
  max_concurrent_runs: defaultSettings.maxConcurrentRuns,
  storage_quota_bytes: defaultSettings.storageQuotaBytes,
  storage_used_bytes: 412,
  entrypoint: defaultSettings.entrypoint,
  limits: defaultLimits,
  tags: ['prices'],
  retry: defaultRetry,
  keep_alive: false,
  environment: { TZ: 'Europe/Berlin' },
  python: null,
  start_mode: 'warm',
  resident: defaultSettings.resident,
  merge_stderr: false,
  listen_ports: [],
  runs_on: [],
  pools: [],
  protected: defaultSettings.protected,
  expectations: [],
  parameters_schema: { type: 'object', properties: { limit: { type: 'integer' } } },
  source: null,
  version: 3,
  created_at: examples.time,
  created_by: 'ada@example.com',
  updated_at: examples.time,
  updated_by: 'ada@example.com',
  last_run: { run_id: examples.runId, status: 'success', finished_at: examples.time },
};

const ScriptSource = Exact(
  {
    repository_id: Uuid(),
    path: Type.String({ description: 'The folder of the script in the repository.' }),
    commit: Type.String({ description: 'Hash of the commit that last changed the script.' }),
    url: Nullable(Type.String({ description: "URL of the commit's page." })),
    editable: Type.Boolean({
      description:
        'Whether the script can be edited on the platform. Each change becomes a commit.',
    }),
  },
  {
    title: 'ScriptSource',
    description: 'The Git repository that provides the script.',
  },
);

export const Script = Exact(
  {
    id: Uuid(),
    name,
    description,
    group_id: Uuid(),
    group: Type.String({ description: 'Name of the group.' }),
    enabled: Type.Boolean(),
    max_concurrent_runs: maxConcurrentRuns,
    storage_quota_bytes: storageQuota,
    storage_used_bytes: Type.Integer({ minimum: 0 }),
    entrypoint,
    limits: Limits,
    tags,
    retry: Retry,
    keep_alive: keepAlive,
    environment,
    python,
    start_mode: startMode,
    resident: Resident,
    merge_stderr: mergeStderr,
    listen_ports: listenPorts,
    runs_on: runsOn,
    pools,
    protected: protection,
    expectations,
    parameters_schema: parametersSchema,
    source: Nullable(ScriptSource),
    version: Type.Integer({
      minimum: 1,
      description:
        'Incremented by every change to files or settings. Also the value of the `ETag` header.',
    }),
    created_at: Time(),
    created_by: Type.String(),
    updated_at: Time(),
    updated_by: Type.String(),
    last_run: Nullable(
      Exact(
        {
          run_id: Uuid(),
          status: Type.Enum(['success', 'failed', 'stopped']),
          finished_at: Time(),
        },
        { title: 'LastRun' },
      ),
    ),
  },
  { title: 'Script', examples: [scriptExample] },
);

export const RecentRun = Exact(
  {
    run_id: Uuid(),
    status: Type.Enum(runStatuses),
    finished_at: Nullable(Time('Null if the run has not ended.')),
    duration_ms: Nullable(Type.Integer({ description: "Duration of the run's process." })),
  },
  { title: 'RecentRun' },
);

const Activity = Exact(
  {
    recent_runs: Type.Array(RecentRun, { description: 'The latest 10 runs, newest first.' }),
    next_fire_at: Nullable(Time("The next due time of the script's schedules.")),
  },
  { title: 'ScriptActivity' },
);

/** A script in a list. */
export const ListedScript = Exact(
  {
    ...Script.properties,
    activity: Type.Optional(Activity),
    deleted_at: Type.Optional(Time('Time of the deletion. Only for deleted scripts.')),
    deleted_by: Type.Optional(
      Type.String({ description: 'Time of the deletion. Only for deleted scripts.' }),
    ),
  },
  { title: 'ListedScript', examples: [scriptExample] },
);

export const ScriptPage = Page('ScriptPage', ListedScript);

const file = {
  path: Type.String(),
  size_bytes: Type.Integer({ minimum: 0 }),
  sha256: Sha256,
  updated_at: Time(),
};
const fileExample = {
  path: 'main.py',
  size_bytes: 412,
  sha256: examples.sha256,
  updated_at: examples.time,
};

export const FileEntry = Exact(file, {
  title: 'FileEntry',
  examples: [fileExample],
});

export const FilePage = Page('FilePage', FileEntry);

export const SavedFile = Exact(
  { ...file, script_version: Type.Integer({ minimum: 1, description: 'The current version.' }) },
  {
    title: 'SavedFile',
    examples: [{ ...fileExample, script_version: 4 }],
  },
);

export const FileMove = Exact(
  { to: Type.String({ minLength: 1, maxLength: 255, description: 'The new path.' }) },
  { title: 'FileMove' },
);

export const FileContent = Exact(
  {
    content: Type.String(),
    encoding: Type.Optional(Type.Enum(['utf-8', 'base64'], { default: 'utf-8' })),
  },
  { title: 'FileContent' },
);

export const ScriptArchive = Exact(
  { content: Type.String({ description: 'The archive in base64.' }) },
  { title: 'ScriptArchive' },
);

/** The parameters of an archive upload. */
export const archiveQuery = Exact({
  name: Type.Optional(OneLine(200)),
  group_id: Type.Optional(
    Uuid('Default: the group `custom`, or your first group if you are not a member of `custom`.'),
  ),
  entrypoint: Type.Optional(entrypoint),
});

export const Purge = Exact(
  {
    script_id: Uuid(),
    state: Type.Enum(['started', 'finished'], {
      description:
        '`finished`: all data except the history has been deleted from the stores and from all active ' +
        'runtimes. An offline runtime deletes its data when it reconnects.',
    }),
  },
  {
    title: 'Purge',
    examples: [{ script_id: examples.scriptId, state: 'started' }],
  },
);
