/** Scripts and their files on the wire (contract §3, "Script"). */
import {
  defaultLimits,
  defaultRetry,
  defaultSettings,
  startModes,
} from '#domain/script/settings.ts';
import Type from 'typebox';
import { templateIds } from '../templates/templates.ts';
import { examples, Nullable, Page, Sha256, Time, Uuid } from './common.ts';

const limit = (maximum: number, description: string) =>
  Nullable(Type.Integer({ minimum: 1, maximum, description }));

const limitSchemas = {
  cpu_seconds: limit(31_536_000, 'CPU time of the whole run.'),
  memory_bytes: limit(2 ** 50, 'Resident memory of the whole run.'),
  address_space_bytes: limit(2 ** 50, 'Address space of one process.'),
  open_files: limit(1_048_576, 'Open files of one process.'),
  processes: limit(32_768, 'Processes of the run.'),
  wall_clock_seconds: limit(31_536_000, 'Time from start to end.'),
  log_bytes: limit(2 ** 40, 'Stored log; first and last half are kept.'),
  queue_seconds: limit(31_536_000, 'Waiting in the queue; then the run ends `failed`, `expired`.'),
};

export const Limits = Type.Object(limitSchemas, {
  title: 'Limits',
  additionalProperties: false,
  description: '`null` lifts a limit.',
});

const LimitChanges = Type.Object(
  {
    cpu_seconds: Type.Optional(limitSchemas.cpu_seconds),
    memory_bytes: Type.Optional(limitSchemas.memory_bytes),
    address_space_bytes: Type.Optional(limitSchemas.address_space_bytes),
    open_files: Type.Optional(limitSchemas.open_files),
    processes: Type.Optional(limitSchemas.processes),
    wall_clock_seconds: Type.Optional(limitSchemas.wall_clock_seconds),
    log_bytes: Type.Optional(limitSchemas.log_bytes),
    queue_seconds: Type.Optional(limitSchemas.queue_seconds),
  },
  {
    title: 'LimitChanges',
    additionalProperties: false,
    description: 'Limits that are not named stay; `null` lifts a limit.',
  },
);

const name = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' });
const description = Type.String({ maxLength: 10_000 });
const maxConcurrentRuns = Type.Integer({ minimum: 1, maximum: 1000 });
const storageQuota = Type.Integer({ minimum: 0, maximum: 2 ** 50 });
const entrypoint = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'File that `python` executes.',
});
const tags = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  maxItems: 32,
  uniqueItems: true,
});

const retrySchemas = {
  max_attempts: Type.Integer({
    minimum: 1,
    maximum: 100,
    description: 'Runs in all, the first included: 1 for none again.',
  }),
  backoff_seconds: Type.Number({
    minimum: 0,
    maximum: 604_800,
    description: 'From the end of the first run to the start of the second.',
  }),
  backoff_factor: Type.Number({
    minimum: 1,
    maximum: 100,
    description: 'Each further attempt waits so many times as long.',
  }),
  max_backoff_seconds: Type.Number({ minimum: 0, maximum: 604_800 }),
};

const Retry = Type.Object(retrySchemas, {
  title: 'Retry',
  additionalProperties: false,
  description:
    'When a run that failed is tried again, as a new run that executes the same version. Stopped and expired runs are not.',
});

const RetryChanges = Type.Object(
  {
    max_attempts: Type.Optional(retrySchemas.max_attempts),
    backoff_seconds: Type.Optional(retrySchemas.backoff_seconds),
    backoff_factor: Type.Optional(retrySchemas.backoff_factor),
    max_backoff_seconds: Type.Optional(retrySchemas.max_backoff_seconds),
  },
  { title: 'RetryChanges', additionalProperties: false },
);

const keepAlive = Type.Boolean({
  description:
    'For bots: while the script is enabled, one run is kept alive. When it ends, even by a stop, another one starts, after a pause that grows while runs end quickly. Disable the script to end that.',
});
const environmentOptions = {
  description:
    'Variables of each run. `LD_*`, `PYTHON*`, `ORCH_*` and `PATH` are set by the platform alone.',
};
const variableName = Type.String({ maxLength: 128 });
const variableValue = Type.String({ maxLength: 65_536 });
const environment = Type.Record(variableName, variableValue, environmentOptions);
const environmentChanges = Type.Record(variableName, Nullable(variableValue), {
  description: `${environmentOptions.description} Those that are not named stay, \`null\` takes one away.`,
});
const python = Nullable(
  Type.String({
    pattern: String.raw`^3(\.\d{1,2})?$`,
    description:
      'An interpreter of that version must be found on the runtime. `null`: the one it has.',
  }),
);

const startMode = Type.Enum([...startModes], {
  description:
    'With `warm`, a run may be executed by an interpreter that is kept for the script and forked; it differs in nothing but what `docs/warm-start.md` names. With `cold`, each run starts an interpreter.',
});

const settings = {
  max_concurrent_runs: Type.Optional(maxConcurrentRuns),
  storage_quota_bytes: Type.Optional(storageQuota),
  entrypoint: Type.Optional(entrypoint),
  limits: Type.Optional(LimitChanges),
  tags: Type.Optional(tags),
  retry: Type.Optional(RetryChanges),
  keep_alive: Type.Optional(keepAlive),
  python: Type.Optional(python),
  start_mode: Type.Optional(startMode),
};

const templateId = Type.Enum([...templateIds]);

export const NewScript = Type.Object(
  {
    name,
    description: Type.Optional(description),
    group_id: Type.Optional(
      Uuid('Default: `custom`, or your first group where that is not yours.'),
    ),
    template: Type.Optional(templateId),
    ...settings,
    environment: Type.Optional(environment),
  },
  { title: 'NewScript', additionalProperties: false },
);

export const ScriptCopy = Type.Object(
  {
    name: Type.Optional(name),
    group_id: Type.Optional(Uuid('Default: the group of the script.')),
  },
  { title: 'ScriptCopy', additionalProperties: false },
);

export const ScriptChanges = Type.Object(
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
    additionalProperties: false,
    description: 'A JSON merge patch (RFC 7396): what is not named stays.',
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
  version: 3,
  created_at: examples.time,
  created_by: 'ada@example.com',
  updated_at: examples.time,
  updated_by: 'ada@example.com',
  last_run: { run_id: examples.runId, status: 'success', finished_at: examples.time },
};

export const Script = Type.Object(
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
    version: Type.Integer({
      minimum: 1,
      description: 'Counts every change of files and settings; the `ETag`.',
    }),
    created_at: Time(),
    created_by: Type.String(),
    updated_at: Time(),
    updated_by: Type.String(),
    last_run: Nullable(
      Type.Object(
        {
          run_id: Uuid(),
          status: Type.Enum(['success', 'failed', 'stopped']),
          finished_at: Time(),
        },
        { title: 'LastRun', additionalProperties: false },
      ),
    ),
  },
  { title: 'Script', additionalProperties: false, examples: [scriptExample] },
);

export const ScriptPage = Page('ScriptPage', Script);

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

export const FileEntry = Type.Object(file, {
  title: 'FileEntry',
  additionalProperties: false,
  examples: [fileExample],
});

export const FilePage = Page('FilePage', FileEntry);

export const SavedFile = Type.Object(
  { ...file, script_version: Type.Integer({ minimum: 1, description: 'The version now.' }) },
  {
    title: 'SavedFile',
    additionalProperties: false,
    examples: [{ ...fileExample, script_version: 4 }],
  },
);

export const FileMove = Type.Object(
  { to: Type.String({ minLength: 1, maxLength: 255, description: 'The new path.' }) },
  { title: 'FileMove', additionalProperties: false },
);

export const FileContent = Type.Object(
  {
    content: Type.String(),
    encoding: Type.Optional(Type.Enum(['utf-8', 'base64'], { default: 'utf-8' })),
  },
  { title: 'FileContent', additionalProperties: false },
);

export const ScriptArchive = Type.Object(
  { content: Type.String({ description: 'The archive in base64.' }) },
  { title: 'ScriptArchive', additionalProperties: false },
);

/** What may be said of an archive beside it. */
export const archiveQuery = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' })),
    group_id: Type.Optional(Uuid('Default: `custom`, or your first group.')),
    entrypoint: Type.Optional(entrypoint),
  },
  { additionalProperties: false },
);

const templateFile = { path: Type.String(), size_bytes: Type.Integer({ minimum: 0 }) };

export const TemplatePage = Page(
  'TemplatePage',
  Type.Object(
    {
      id: templateId,
      name,
      description,
      files: Type.Array(Type.Object(templateFile, { additionalProperties: false })),
    },
    {
      title: 'Template',
      additionalProperties: false,
      examples: [
        {
          id: 'etl-job',
          name: 'ETL job',
          description: 'Reads a CSV file, adds it up and writes the result.',
          files: [{ path: 'main.py', size_bytes: 2051 }],
        },
      ],
    },
  ),
);
