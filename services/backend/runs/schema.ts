/** Runs and their logs on the wire (contract §3, "Run" and "Run log"). */
import { errorSources, maxFrames, relations } from '#domain/run/error/error.ts';
import { busyChoices, failures, runStatuses, triggerTypes } from '#domain/run/run.ts';
import { removableKinds } from '#domain/system/retention.ts';
import Type from 'typebox';
import { examples, Nullable, Page, Time, Uuid } from '../http/schema.ts';

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
  progress: { fraction: 1, text: 'all pages read' },
  error: null,
  error_group_id: null,
};

const natural = Type.Integer({ minimum: 0 });

const Frame = Type.Object(
  {
    file: Type.String({ description: 'Of the script itself: relative to its root.' }),
    line: natural,
    function: Type.String(),
    code: Type.String({ description: 'The line of code; empty if the traceback has none.' }),
    own: Type.Boolean({ description: 'Whether it is code of the script itself.' }),
  },
  { title: 'ErrorFrame', additionalProperties: false },
);

const raised = {
  type: Type.String({
    description:
      "The exception's qualified name without `builtins.`, or the `failure_reason` of a limit or a failure of the platform.",
  }),
  message: Type.String({ description: 'At most 4 KiB.' }),
  frames: Type.Array(Frame, {
    maxItems: maxFrames,
    description: 'Outermost first. Of more than 50, the first 25 and the last 25.',
  }),
};

const RunError = Type.Object(
  {
    ...raised,
    causes: Type.Array(
      Type.Object(
        {
          ...raised,
          relation: Type.Enum(relations, {
            title: 'ErrorRelation',
            description:
              '`cause`: the one before was raised from it. `context`: while it was handled. `member`: of an exception group.',
          }),
        },
        { title: 'ErrorCause', additionalProperties: false },
      ),
      { description: 'What led to it, nearest first, and behind each what led to that one.' },
    ),
    source: Type.Enum(errorSources, {
      title: 'ErrorSource',
      description: 'Who reported it: the interpreter, the traceback in the log, or the platform.',
    }),
  },
  { title: 'RunError', additionalProperties: false },
);

export const Run = Type.Object(
  {
    run_id: Uuid(),
    id: Uuid('The same as `run_id`.'),
    script_id: Uuid(),
    script_name: Type.String(),
    script_version: Type.Integer({ minimum: 1 }),
    status: RunStatusSchema,
    waiting: Type.Boolean({
      description: 'It starts, in order, when the script has a slot and its time has come.',
    }),
    stop_requested: Type.Boolean(),
    trigger_type: TriggerType,
    trigger: Type.Object(
      {
        type: TriggerType,
        run_id: Type.Optional(
          Uuid('The run that a retry or a rerun repeats, or that asked for this one.'),
        ),
        schedule_id: Type.Optional(Uuid('The schedule that it was due by.')),
        webhook_id: Type.Optional(Uuid('The webhook that was called.')),
        redelivery_of: Type.Optional(Uuid('The delivery that this one repeats.')),
        chain_id: Type.Optional(Uuid('The chain that started it.')),
        source_run_id: Type.Optional(Uuid('The run whose end the chain answered to.')),
        depth: Type.Optional(
          Type.Integer({ minimum: 1, description: 'How many runs caused one another up to it.' }),
        ),
        payload_sha256: Type.Optional(
          Type.String({ description: 'Names what it was called with, or what was handed over.' }),
        ),
        token_id: Type.Optional(Uuid('The API token that asked for it.')),
        cause: Type.Optional(
          Type.String({
            description:
              '`keep_alive`: the script is a bot that had no run. `script`: another run asked for it. `chain`: another run had ended.',
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
      description: 'What the script gave to `platform.output`; `null` for nothing.',
    }),
    progress: Nullable(
      Type.Object(
        { fraction: Type.Number({ minimum: 0, maximum: 1 }), text: Type.String() },
        {
          title: 'RunProgress',
          additionalProperties: false,
          description: 'How far the script said that it is.',
        },
      ),
    ),
    error: Nullable(RunError),
    error_group_id: Nullable(Uuid('The error group that the run belongs to.')),
    removed: Type.Array(Type.Enum(removableKinds, { title: 'RemovableKind' }), {
      description:
        'What is no longer kept of the run: its time is over (`/system/retention`), or its script was purged. Such lists are empty, `params` is null, and one `system` line stands for the log.',
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
    cpu_seconds: Type.Number({ minimum: 0, description: 'Since the start of the run.' }),
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
    'What meets the concurrency limit is refused with 409, or waits in the queue for its turn, for at most `limits.queue_seconds`.',
});

export const RerunRequest = Type.Object(
  {
    version: Type.Enum(['same', 'latest'], {
      description: 'The files and settings of then, or those of now.',
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
        { additionalProperties: true, description: 'At most 64 KiB of JSON, for the script.' },
      ),
    ),
    when_busy: Type.Optional(WhenBusy),
    timeout_seconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 31_536_000,
        description: 'Replaces the wall-clock limit of the script.',
      }),
    ),
  },
  { title: 'RunRequest', additionalProperties: false },
);

export const StopRequest = Type.Object(
  { run_id: Type.Optional(Uuid('Only this run.')) },
  { title: 'StopRequest', additionalProperties: false },
);

export const LogStream = Type.Enum(['stdout', 'stderr', 'system'], { title: 'LogStream' });

export const logLineExample = {
  seq: 1,
  time: examples.time,
  stream: 'stdout',
  text: 'hello',
};

export const LogLine = Type.Object(
  {
    seq: Type.Integer({ minimum: 1, description: 'Counts from 1 without gaps.' }),
    time: Time(),
    stream: LogStream,
    text: Type.String(),
    from_seq: Type.Optional(
      Type.Integer({ description: 'First line that truncation left out, on its `system` line.' }),
    ),
    to_seq: Type.Optional(
      Type.Integer({ description: 'Last line that truncation left out, on its `system` line.' }),
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
      etag: Type.String({ description: 'Another one when it was written again; its `ETag`.' }),
      updated_at: Time(),
    },
    { title: 'Artifact', additionalProperties: false, examples: [artifactExample] },
  ),
);
