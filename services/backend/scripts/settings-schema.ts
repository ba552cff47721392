/** What a script's author may set, on the wire (contract §3, "Script"). */
import {
  maxListenPort,
  maxListenPorts,
  minListenPort,
  startModes,
} from '#domain/script/settings.ts';
import Type from 'typebox';
import { Nullable } from '../http/schema.ts';

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

export const maxConcurrentRuns = Type.Integer({ minimum: 1, maximum: 1000 });
export const storageQuota = Type.Integer({ minimum: 0, maximum: 2 ** 50 });
export const entrypoint = Type.String({
  minLength: 1,
  maxLength: 255,
  description:
    'File that `python` executes: a `.py` file, or a `.pyz` archive. Its path cannot begin with `-`.',
});
export const tags = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
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

export const Retry = Type.Object(retrySchemas, {
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

export const keepAlive = Type.Boolean({
  description:
    'For bots: while the script is enabled, one run is kept alive. When it ends, even by a stop, another one starts, after a pause that grows while runs end quickly. Disable the script to end that.',
});
const environmentOptions = {
  description:
    'Variables of each run. `LD_*`, `PYTHON*`, `_PYTHON*`, `__PYVENV_LAUNCHER__`, `ORCH_*` and `PATH` are set by the platform alone.',
};
const variableName = Type.String({ maxLength: 128 });
const variableValue = Type.String({ maxLength: 65_536 });
export const environment = Type.Record(variableName, variableValue, environmentOptions);
export const environmentChanges = Type.Record(variableName, Nullable(variableValue), {
  description: `${environmentOptions.description} Those that are not named stay, \`null\` takes one away.`,
});
export const python = Nullable(
  Type.String({
    pattern: String.raw`^3(\.\d{1,2})?$`,
    description:
      'An interpreter of that version must be found on the runtime. `null`: the one it has.',
  }),
);

export const startMode = Type.Enum([...startModes], {
  description:
    'With `warm`, a run may be executed by an interpreter that is kept for the script and forked; it differs in nothing but what `docs/warm-start.md` names. With `cold`, each run starts an interpreter.',
});

// Those from 1 to 1023 are refused by the domain, which says so in words.
export const listenPorts = Type.Array(Type.Integer({ minimum: 0, maximum: maxListenPort }), {
  maxItems: maxListenPorts,
  uniqueItems: true,
  description: `TCP ports that runs may listen on, ${minListenPort} or higher. \`0\` allows a port that the kernel chooses. Empty: a run cannot listen.`,
});

export const parametersSchema = Nullable(
  Type.Object(
    {},
    {
      additionalProperties: true,
      description:
        'A JSON Schema (2020-12 or draft-07) that the parameters of requested runs have to match, at most 64 KiB; a request without parameters is checked as `{}`. `format` is an annotation, and nothing outside the schema is referred to. Replaced as a whole.',
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
  listen_ports: Type.Optional(listenPorts),
  parameters_schema: Type.Optional(parametersSchema),
};
