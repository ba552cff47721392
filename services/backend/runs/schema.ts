// Long because it describes each field of a run.
/** The wire format of runs and their logs (contract §3, "Run" and "Run log"). */
import { logLevels } from '#domain/ports/run-logs.ts';
import { busyChoices, failures, runStatuses, triggerTypes } from '#domain/run/run.ts';
import { waitingKinds } from '#infra/postgres/queue/waiting-for.ts';
import { removableKinds } from '#domain/system/retention.ts';
import Type from 'typebox';
import { examples, Nullable, Page, Time, Uuid } from '../http/schema.ts';
import { RunError } from './error-schema.ts';

export const RunStatusSchema = Type.Enum(runStatuses, { title: 'RunStatus' });
export const TriggerType = Type.Enum(triggerTypes, { title: 'TriggerType' });

export const runExample = {
  run_id: examples.runId,
  id: examples.runId,
  script_id: examples.scriptId,
  script_name: 'Price watcher',
  script_version: 3,
  status: 'success',
  waiting: false,
  waiting_for: null,
  stop_requested: false,
  trigger_type: 'manual',
  trigger: { type: 'manual' },
  requested_by: 'ada@example.com',
  queued_at: '2026-11-21T02:30:58.000Z',
  started_at: '2026-11-21T02:30:58.041Z',
  finished_at: '2026-11-21T02:31:00.000Z',
  queue_ms: 41,
  duration_ms: 1959,
  exit_code: 0,
  signal: null,
  failure_reason: null,
  attempt: 1,
  parent_run_id: null,
  params: { limit: 10 },
  runtime_id: 'runtime-1',
  usage: { cpu_seconds: 0.31, max_memory_bytes: 24_117_248, max_threads: 1 },
  log_lines: 12,
  log_bytes: 640,
  log_truncated: false,
  removed: [],
  output: { found: 3 },
  progress: { fraction: 1, text: 'all pages read', eta: null },
  error: null,
  error_group_id: null,
  commit: null,
  commit_url: null,
};

const natural = Type.Integer({ minimum: 0 });

export const RunProgress = Type.Object(
  {
    fraction: Type.Number({ minimum: 0, maximum: 1 }),
    text: Type.String(),
    eta: Nullable({
      ...Time(),
      description:
        'Estimated end, based on the average speed so far. Null below 1%, at 100% and after the run has ended.',
    }),
  },
  {
    title: 'RunProgress',
    additionalProperties: false,
    description: 'Progress reported by the script.',
  },
);

export const Run = Type.Object(
  {
    run_id: Uuid(),
    id: Uuid('Alias of `run_id`.'),
    script_id: Uuid(),
    script_name: Type.String(),
    script_version: Type.Integer({ minimum: 1 }),
    status: RunStatusSchema,
    waiting: Type.Boolean({
      description:
        'Whether the run is waiting for approval, its due time or a free slot. Waiting runs start in order.',
    }),
    waiting_for: Nullable(
      Type.Object(
        {
          kind: Type.Enum([...waitingKinds]),
          name: Type.String({
            description:
              'For `slot`: the script whose concurrency limit is reached, or `runtime` if every ' +
              'suitable runtime is full. For `label`: the label that no live runtime has. For ' +
              '`pool`: the pool without a free slot. For `approval`: the script whose runs a ' +
              'second person must approve.',
          }),
        },
        {
          title: 'WaitingFor',
          additionalProperties: false,
          description:
            'The resource that a queued run is waiting for. `null` if the run only waits for its start time, or ' +
            'does not wait.',
        },
      ),
    ),
    stop_requested: Type.Boolean(),
    trigger_type: TriggerType,
    trigger: Type.Object(
      {
        type: TriggerType,
        run_id: Type.Optional(
          Uuid('The run that was retried or rerun, or that requested this run.'),
        ),
        schedule_id: Type.Optional(Uuid('The schedule that started the run.')),
        webhook_id: Type.Optional(Uuid('The webhook that started the run.')),
        redelivery_of: Type.Optional(
          Uuid('The original webhook delivery, if a redelivery started this run.'),
        ),
        chain_id: Type.Optional(Uuid('The chain that started the run.')),
        source_run_id: Type.Optional(Uuid('The upstream run that triggered the chain.')),
        depth: Type.Optional(
          Type.Integer({
            minimum: 1,
            description: 'Length of the chain of runs that led to this run.',
          }),
        ),
        payload_sha256: Type.Optional(
          Type.String({
            description: 'SHA-256 of the payload from the webhook call or the upstream run.',
          }),
        ),
        token_id: Type.Optional(Uuid('The API token that requested the run.')),
        cause: Type.Optional(
          Type.String({
            description:
              '`keep_alive`: started because the script is always on. `script`: requested by another run. `chain`: ' +
              'triggered by the end of another run.',
          }),
        ),
      },
      { additionalProperties: true },
    ),
    requested_by: Type.String(),
    queued_at: Time(),
    started_at: Nullable(Time()),
    finished_at: Nullable(Time()),
    queue_ms: Nullable(natural),
    duration_ms: Nullable(natural),
    exit_code: Nullable(Type.Integer()),
    signal: Nullable(Type.String()),
    failure_reason: Nullable(Type.Enum(failures, { title: 'FailureReason' })),
    attempt: Type.Integer({ minimum: 1 }),
    parent_run_id: Nullable(Uuid()),
    params: Nullable(Type.Object({}, { additionalProperties: true })),
    runtime_id: Nullable(Type.String()),
    usage: Nullable(
      Type.Object(
        {
          cpu_seconds: Nullable(Type.Number({ minimum: 0 })),
          max_memory_bytes: Nullable(natural),
          max_threads: Nullable(natural),
        },
        { title: 'RunUsage', additionalProperties: false },
      ),
    ),
    log_lines: natural,
    log_bytes: natural,
    log_truncated: Type.Boolean(),
    output: Type.Unknown({
      description: 'The value passed to `platform.output`; `null` if no output was passed.',
    }),
    progress: Nullable(RunProgress),
    error: Nullable(RunError),
    error_group_id: Nullable(Uuid('The error group that the run belongs to.')),
    commit: Nullable(
      Type.String({
        description: 'Hash of the commit that the run executed, if the script comes from Git.',
      }),
    ),
    commit_url: Nullable(Type.String({ description: "URL of the commit's page." })),
    removed: Type.Array(Type.Enum(removableKinds, { title: 'RemovableKind' }), {
      description:
        'Run data that was removed by retention (`/system/retention`) or because the script was purged. Removed ' +
        'lists are empty, `params` is null, and the log is a single `system` line.',
    }),
  },
  { title: 'Run', additionalProperties: false, examples: [runExample] },
);

export const RunPage = Page('RunPage', Run);
export const RunItems = Type.Object(
  { items: Type.Array(Run) },
  { title: 'RunItems', additionalProperties: false },
);

const RunSample = Type.Object(
  {
    time: Time(),
    cpu_seconds: Type.Number({ minimum: 0, description: 'Cumulative since the start of the run.' }),
    memory_bytes: natural,
    threads: natural,
    processes: natural,
  },
  {
    title: 'RunSample',
    additionalProperties: false,
    examples: [
      {
        time: examples.time,
        cpu_seconds: 0.31,
        memory_bytes: 24_117_248,
        threads: 1,
        processes: 1,
      },
    ],
  },
);

export const RunSampleItems = Type.Object(
  { items: Type.Array(RunSample) },
  { title: 'RunSampleItems', additionalProperties: false },
);

const WhenBusy = Type.Enum(busyChoices, {
  default: 'refuse',
  description:
    'What to do when the concurrency limit is reached: reject with 409, or wait in the queue for at most ' +
    '`limits.queue_seconds`.',
});

export const RerunRequest = Type.Object(
  {
    version: Type.Enum(['same', 'latest'], {
      description:
        'Whether to use the files and settings of the original run or of the current version.',
    }),
    when_busy: Type.Optional(WhenBusy),
  },
  { title: 'RerunRequest', additionalProperties: false },
);

export const RunRequest = Type.Object(
  {
    params: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description: 'Parameters for the script; at most 64 KiB of JSON.',
        },
      ),
    ),
    when_busy: Type.Optional(WhenBusy),
    timeout_seconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 31_536_000,
        description: 'Overrides the wall-clock limit of the script.',
      }),
    ),
  },
  { title: 'RunRequest', additionalProperties: false },
);

export const StopRequest = Type.Object(
  { run_id: Type.Optional(Uuid('Stop only this run.')) },
  { title: 'StopRequest', additionalProperties: false },
);

export const LogStream = Type.Enum(['stdout', 'stderr', 'system'], { title: 'LogStream' });

export const LogLevel = Type.Enum(logLevels, { title: 'LogLevel' });

export const logLineExample = {
  seq: 1,
  time: examples.time,
  stream: 'stdout',
  level: null,
  text: 'hello',
};

export const LogLine = Type.Object(
  {
    seq: Type.Integer({ minimum: 1, description: 'Line number, starting at 1, without gaps.' }),
    time: Time(),
    stream: LogStream,
    level: Nullable(LogLevel),
    text: Type.String(),
    from_seq: Type.Optional(
      Type.Integer({
        description: 'On the `system` line of a truncated log: the first omitted line.',
      }),
    ),
    to_seq: Type.Optional(
      Type.Integer({
        description: 'On the `system` line of a truncated log: the last omitted line.',
      }),
    ),
  },
  { title: 'LogLine', additionalProperties: true, examples: [logLineExample] },
);

export const LogPage = Page('LogPage', LogLine);

const artifactExample = {
  path: 'report/summary.csv',
  size_bytes: 412,
  etag: '1x2y-mfk3zq0l-bg',
  updated_at: examples.time,
};

export const ArtifactPage = Page(
  'ArtifactPage',
  Type.Object(
    {
      path: Type.String(),
      size_bytes: natural,
      etag: Type.String({
        description:
          'Changes when the artifact is overwritten. Also the value of the `ETag` header.',
      }),
      updated_at: Time(),
    },
    { title: 'Artifact', additionalProperties: false, examples: [artifactExample] },
  ),
);
