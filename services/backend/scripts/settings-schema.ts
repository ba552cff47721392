/** The wire format of script settings (contract §3, "Script"). */
import {
  maxExpectations,
  maxFactor,
  maxSuccessWithin,
  minFactor,
  minSuccessWithin,
} from '#domain/script/expectations.ts';
import { maxPools } from '#domain/pool/pool.ts';
import { maxLabels } from '#domain/script/labels.ts';
import {
  maxListenPort,
  maxListenPorts,
  maxResident,
  minListenPort,
  startModes,
} from '#domain/script/settings.ts';
import Type from 'typebox';
import { Exact, Nullable } from '../http/schema.ts';

const limit = (maximum: number, description: string) =>
  Nullable(Type.Integer({ minimum: 1, maximum, description }));

const limitSchemas = {
  cpu_seconds: limit(31_536_000, 'Maximum CPU time of the run.'),
  memory_bytes: limit(2 ** 50, 'Maximum resident memory of the run.'),
  address_space_bytes: limit(2 ** 50, 'Maximum address space of each process.'),
  open_files: limit(1_048_576, 'Maximum number of open files of each process.'),
  processes: limit(32_768, 'Maximum number of processes of the run.'),
  wall_clock_seconds: limit(31_536_000, 'Maximum duration of the run.'),
  log_bytes: limit(
    2 ** 40,
    'Maximum size of the stored log. If a log is larger, its beginning and its end are kept.',
  ),
  queue_seconds: limit(
    31_536_000,
    'Maximum time in the queue, after which the run fails as `expired`.',
  ),
};

export const Limits = Exact(limitSchemas, {
  title: 'Limits',
  description: '`null` removes a limit.',
});

const LimitChanges = Exact(
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
    description: 'Omitted limits stay unchanged; `null` removes a limit.',
  },
);

export const maxConcurrentRuns = Type.Integer({ minimum: 1, maximum: 1000 });
export const storageQuota = Type.Integer({ minimum: 0, maximum: 2 ** 50 });
export const entrypoint = Type.String({
  minLength: 1,
  maxLength: 255,
  description:
    'File to run with `python`: a `.py` file or a `.pyz` archive. The path must not start with `-`.',
});
export const tags = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  maxItems: 32,
  uniqueItems: true,
});

const retrySchemas = {
  max_attempts: Type.Integer({
    minimum: 1,
    maximum: 100,
    description: 'Maximum attempts, including the first. 1 disables retries.',
  }),
  backoff_seconds: Type.Number({
    minimum: 0,
    maximum: 604_800,
    description: 'Delay between the end of the first attempt and the start of the second.',
  }),
  backoff_factor: Type.Number({
    minimum: 1,
    maximum: 100,
    description: 'Factor by which the delay grows with each attempt.',
  }),
  max_backoff_seconds: Type.Number({ minimum: 0, maximum: 604_800 }),
};

export const Retry = Exact(retrySchemas, {
  title: 'Retry',
  description:
    'Retry policy of failed runs. Each retry is a new run of the same version. Stopped and ' +
    'expired runs are not ' +
    'retried.',
});

const RetryChanges = Exact(
  {
    max_attempts: Type.Optional(retrySchemas.max_attempts),
    backoff_seconds: Type.Optional(retrySchemas.backoff_seconds),
    backoff_factor: Type.Optional(retrySchemas.backoff_factor),
    max_backoff_seconds: Type.Optional(retrySchemas.max_backoff_seconds),
  },
  { title: 'RetryChanges' },
);

export const keepAlive = Type.Boolean({
  description:
    'Keeps one run active while the script is enabled, for example for a bot. When the run ends ' +
    'for any reason, including a stop, a new run starts after a delay. If runs keep ending ' +
    'quickly, the delay increases. To stop the runs, disable the script.',
});
const environmentOptions = {
  description:
    'Environment variables of each run. `LD_*`, `PYTHON*`, `_PYTHON*`, `__PYVENV_LAUNCHER__`, `ORCH_*` ' +
    'and `PATH` are reserved for the platform.',
};
const variableName = Type.String({ maxLength: 128 });
const variableValue = Type.String({ maxLength: 65_536 });
export const environment = Type.Record(variableName, variableValue, environmentOptions);
export const environmentChanges = Type.Record(variableName, Nullable(variableValue), {
  description: `${environmentOptions.description} Omitted variables stay unchanged; \`null\` removes a variable.`,
});
export const python = Nullable(
  Type.String({
    pattern: String.raw`^3(\.\d{1,2})?$`,
    description:
      "Python version, which must be installed on the runtime. `null`: the runtime's default.",
  }),
);

export const startMode = Type.Enum([...startModes], {
  description:
    "`warm`: a run may use a fork of the script's warm interpreter. `docs/warm-start.md` lists " +
    'the differences. `cold`: each run starts a new interpreter. `resident`: one process executes ' +
    'consecutive runs by calling `handler(event, context)` of the entry point ' +
    '(`docs/resident-handlers.md`).',
});

const residentDescription =
  'Settings of the processes that a `resident` script has on each runtime. Other start modes ' +
  'ignore these settings.';
const residentFields = {
  idle_seconds: Type.Integer({
    minimum: 1,
    maximum: maxResident.idle_seconds,
    description: 'Idle time after which a process ends.',
  }),
  max_runs: Type.Integer({
    minimum: 1,
    maximum: maxResident.max_runs,
    description: 'Number of runs after which a process ends.',
  }),
  processes: Type.Integer({
    minimum: 1,
    maximum: maxResident.processes,
    description:
      'Maximum number of processes that stay alive after their run ends. If all processes are busy, a run ' +
      'starts an additional process, which ends with that run.',
  }),
};
export const Resident = Exact(residentFields, {
  title: 'Resident',
  description: residentDescription,
});
const ResidentChanges = Type.Partial(Type.Object(residentFields), {
  title: 'ResidentChanges',
  additionalProperties: false,
  description: `${residentDescription} Omitted fields stay unchanged.`,
});

export const mergeStderr = Type.Boolean({
  description:
    'Whether stderr is merged into stdout. The log then contains both in their exact order, and ' +
    'has no `stderr` stream.',
});

// The schema permits ports 1 to 1023, so that the domain can refuse them with an explanation.
export const listenPorts = Type.Array(Type.Integer({ minimum: 0, maximum: maxListenPort }), {
  maxItems: maxListenPorts,
  uniqueItems: true,
  description:
    `TCP ports that runs may listen on, ${minListenPort} or higher. \`0\` allows a port chosen by the ` +
    'kernel. If empty, runs cannot listen.',
});

// The schema permits any text, so that the domain can refuse invalid labels with an explanation.
export const runsOn = Type.Array(Type.String({ minLength: 1, maxLength: 63 }), {
  maxItems: maxLabels,
  uniqueItems: true,
  description:
    'Labels that a runtime must have to execute the runs (`ORCH_RUNTIME_LABELS`). All labels must ' +
    'match. If empty, any runtime can execute the runs.',
});

export const pools = Type.Array(Type.String({ minLength: 1, maxLength: 63 }), {
  maxItems: maxPools,
  uniqueItems: true,
  description:
    'Names of pools (`/pools`). Each run takes a slot in all of them while it is running or ready ' +
    'to start, and ' +
    'waits while one of them is full.',
});

export const Expectation = Type.Union(
  [
    Exact(
      {
        kind: Type.Literal('finish_by'),
        cron: Type.String({ minLength: 1, maxLength: 512 }),
        timezone: Type.String({ minLength: 1, maxLength: 64 }),
      },
      {
        title: 'FinishByExpectation',
        description:
          'Expects at least one successful run between two consecutive times of the cron ' +
          'expression. Otherwise, `run_late` is reported.',
      },
    ),
    Exact(
      {
        kind: Type.Literal('success_within'),
        seconds: Type.Integer({ minimum: minSuccessWithin, maximum: maxSuccessWithin }),
      },
      {
        title: 'SuccessWithinExpectation',
        description:
          'Expects at most this many seconds between two successful runs. Otherwise, ' +
          '`script_stale` is reported.',
      },
    ),
    Exact(
      {
        kind: Type.Literal('longer_than'),
        factor: Type.Number({ minimum: minFactor, maximum: maxFactor }),
      },
      {
        title: 'LongerThanExpectation',
        description:
          'Expects each run to take at most this factor times the p95 duration of the latest successful runs. ' +
          'Otherwise, `run_too_long` is reported.',
      },
    ),
  ],
  { title: 'Expectation' },
);
export const expectations = Type.Array(Expectation, {
  maxItems: maxExpectations,
  description:
    "Expectations for the script's runs (see `docs/expectations.md`). A notification is sent when an " +
    'expectation is missed, and another when the expectation is met again.',
});

const protections = {
  run: Type.Boolean({
    description:
      'Requested runs wait until a second person approves them (`/approvals`). Runs of schedules ' +
      'and chains, always-on runs and retries are exempt.',
  }),
  save: Type.Boolean({
    description:
      'Changes wait until a second person approves them (`/approvals`). This applies to files, restores, the ' +
      'group, and the settings `entrypoint`, `environment`, `python`, `start_mode`, `listen_ports` and ' +
      '`parameters_schema`.',
  }),
};
const aboutProtection =
  'Actions that a second person must approve (see `docs/approvals.md`). Only administrators can ' +
  'change this setting. ' +
  'While `run` is `true`, only administrators can set up schedules, chains and always-on runs of ' +
  'the script.';

export const protection = Exact(protections, { title: 'Protection', description: aboutProtection });

const ProtectionChanges = Exact(
  { run: Type.Optional(protections.run), save: Type.Optional(protections.save) },
  { title: 'ProtectionChanges', description: aboutProtection },
);

export const parametersSchema = Nullable(
  Type.Object(
    {},
    {
      additionalProperties: true,
      description:
        'A JSON Schema (2020-12 or draft-07) for the parameters of requested runs, at most 64 ' +
        'KiB. A request ' +
        'without parameters is validated as `{}`. `format` is an annotation only, and external ' +
        'references ' +
        'are not supported. A change replaces the entire schema.',
    },
  ),
);

export const settings = {
  max_concurrent_runs: Type.Optional(maxConcurrentRuns),
  storage_quota_bytes: Type.Optional(storageQuota),
  entrypoint: Type.Optional(entrypoint),
  limits: Type.Optional(LimitChanges),
  tags: Type.Optional(tags),
  retry: Type.Optional(RetryChanges),
  keep_alive: Type.Optional(keepAlive),
  python: Type.Optional(python),
  start_mode: Type.Optional(startMode),
  resident: Type.Optional(ResidentChanges),
  merge_stderr: Type.Optional(mergeStderr),
  listen_ports: Type.Optional(listenPorts),
  runs_on: Type.Optional(runsOn),
  pools: Type.Optional(pools),
  expectations: Type.Optional(expectations),
  protected: Type.Optional(ProtectionChanges),
  parameters_schema: Type.Optional(parametersSchema),
};
