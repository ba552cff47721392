/** Tools that start, inspect and stop runs, and wait for them. */
import { setTimeout as pause } from 'node:timers/promises';
import Type, { type Static } from 'typebox';
import { headlineOf, type RunError } from '#domain/run/error/error.ts';
import { part, type Api } from '#services/shared/api-client.ts';
import { picked, tool, type Tool, type ToolUse } from '../tool.ts';
import {
  Approval,
  Cursor,
  defaultItems,
  Limit,
  ListedRun,
  listOf,
  LogLine,
  NextCursor,
  Nullable,
  Run,
  RunId,
  ScriptId,
} from './shapes.ts';

/** The number of log lines in the result of a finished run. */
const shownLines = 50;
const maxWaitSeconds = 600;
const pollEveryMs = 500;

const WaitSeconds = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: maxWaitSeconds,
    description: 'Seconds to wait for the run to end. Default: 30.',
  }),
);
const defaultWaitSeconds = 30;
const Waited = Type.Object({
  run: Run,
  finished: Type.Boolean(),
  log_tail: Type.Array(LogLine, { description: `The last ${shownLines} lines of the log.` }),
});

const runScript = tool({
  name: 'run_script',
  title: 'Run a script',
  description:
    'Starts a run of a script and waits for it to end, for 30 seconds or wait_seconds. If the run takes ' +
    'longer, use wait_for_run. A run that requires approval is returned immediately, with waiting_for.',
  effect: 'adds',
  input: Type.Object({
    script_id: ScriptId,
    params: Type.Optional(
      Type.Object(
        {},
        { additionalProperties: true, description: 'Parameters for the script, as JSON.' },
      ),
    ),
    timeout_seconds: Type.Optional(Type.Integer({ minimum: 1 })),
    when_busy: Type.Optional(Type.Enum(['refuse', 'queue'])),
    wait_seconds: WaitSeconds,
  }),
  output: Waited,
  handle: async ({ script_id, wait_seconds = defaultWaitSeconds, ...body }, use) => {
    const path = `/runs/scripts/${part(script_id)}/run`;
    const { body: run } = await use.api.call<RunAnswer>('POST', path, { body });
    return await untilFinished(run, wait_seconds, use);
  },
});

const waitForRun = tool({
  name: 'wait_for_run',
  title: 'Wait for a run',
  description: 'Waits until a run ends. Returns its outcome and the end of its log.',
  effect: 'reads',
  input: Type.Object({ run_id: RunId, wait_seconds: WaitSeconds }),
  output: Waited,
  handle: async ({ run_id, wait_seconds = defaultWaitSeconds }, use) =>
    await untilFinished(await runOf(run_id, use.api), wait_seconds, use),
});

const getRun = tool({
  name: 'get_run',
  title: 'Read a run',
  description: 'Returns the status, times and outcome of a run.',
  effect: 'reads',
  input: Type.Object({ run_id: RunId }),
  output: Type.Object({ run: Run }),
  handle: async ({ run_id }, { api }) => ({ run: picked(Run, await runOf(run_id, api)) }),
});

const listRuns = tool({
  name: 'list_runs',
  title: 'List runs',
  description: `Lists the runs that you can see, newest first: ${defaultItems}, or limit. get_run returns all fields.`,
  effect: 'reads',
  input: Type.Object({
    script_id: Type.Optional(ScriptId),
    status: Type.Optional(
      Type.String({
        description:
          'queued, running, success, failed or stopped; separate multiple values with commas.',
      }),
    ),
    from: Type.Optional(Type.String({ description: 'Queued at or after this RFC 3339 time.' })),
    to: Type.Optional(Type.String({ description: 'Queued before this RFC 3339 time.' })),
    limit: Limit,
    cursor: Cursor,
  }),
  output: Type.Object({ items: Type.Array(ListedRun), next_cursor: NextCursor }),
  handle: async ({ limit = defaultItems, ...query }, use) => {
    const page = await listOf(Run, '/runs', { limit, ...query }, use);
    const items = page.items.map((run) => {
      const error = run.error as RunError | null;
      return picked(ListedRun, { ...run, error: error && headlineOf(error) });
    });
    return { ...page, items };
  },
});

const listApprovals = tool({
  name: 'list_approvals',
  title: 'List approval requests',
  description:
    'Lists the approval requests that you can see, newest first. Only users can approve or reject requests, in the ' +
    'dashboard.',
  effect: 'reads',
  input: Type.Object({
    status: Type.Optional(Type.Enum(['pending', 'approved', 'rejected', 'expired', 'withdrawn'])),
    script_id: Type.Optional(ScriptId),
    limit: Limit,
    cursor: Cursor,
  }),
  output: Type.Object({ items: Type.Array(Approval), next_cursor: NextCursor }),
  handle: (query, use) => listOf(Approval, '/approvals', query, use),
});

const readLogs = tool({
  name: 'read_logs',
  title: 'Read the log of a run',
  description:
    'Returns lines of the log: the last lines with tail, lines that contain a text with grep, lines of at ' +
    'least a level with level, or lines from a given number with from_seq.',
  effect: 'reads',
  input: Type.Object({
    run_id: RunId,
    tail: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
    grep: Type.Optional(Type.String({ minLength: 1 })),
    stream: Type.Optional(Type.Enum(['stdout', 'stderr', 'system'])),
    level: Type.Optional(Type.Enum(['debug', 'info', 'warning', 'error', 'critical'])),
    from_seq: Type.Optional(Type.Integer({ minimum: 1 })),
    limit: Limit,
    cursor: Cursor,
  }),
  output: Type.Object({ items: Type.Array(LogLine), next_cursor: NextCursor }),
  handle: ({ run_id, grep, ...rest }, use) =>
    listOf(LogLine, `/runs/${part(run_id)}/logs`, { q: grep, ...rest }, use),
});

const stopRun = tool({
  name: 'stop_run',
  title: 'Stop a run',
  description: 'Stops a queued or running run: SIGTERM, then SIGKILL after ten seconds.',
  effect: 'replaces',
  input: Type.Object({ run_id: RunId }),
  output: Type.Object({ items: Type.Array(Run) }),
  handle: async ({ run_id }, { api }) => {
    const path = `/runs/${part(run_id)}/stop`;
    const { body } = await api.call<{ readonly items: readonly object[] }>('POST', path);
    return { items: body.items.map((item) => picked(Run, item)) };
  },
});

const Reason = Type.Object({
  decision: Type.String(),
  reason: Type.String({ description: 'The reason, as a sentence.' }),
});

const RaisedError = Type.Object({
  type: Type.String(),
  message: Type.String(),
  frame: Type.Unknown({
    description: "The innermost frame in the script's own code; null if the error has none.",
  }),
});

const explainRun = tool({
  name: 'explain_run',
  title: 'Explain a run',
  description:
    'Returns the decisions that queued, delayed, started and ended a run, with their reasons, and the error ' +
    'of a failed run.',
  effect: 'reads',
  input: Type.Object({ run_id: RunId }),
  output: Type.Object({ items: Type.Array(Reason), error: Nullable(RaisedError) }),
  handle: async ({ run_id }, use) => {
    const [{ items }, { error }] = await Promise.all([
      listOf(Reason, `/runs/${part(run_id)}/why`, undefined, use),
      runOf(run_id, use.api),
    ]);
    const frame = error?.frames.findLast(({ own }) => own) ?? null;
    return { items, error: error && { type: error.type, message: error.message, frame } };
  },
});

const RunChanges = Type.Object({
  base_run_id: Type.Unknown(),
  from: Type.Unknown(),
  to: Type.Integer(),
  files: Type.Unknown(),
  settings: Type.Unknown(),
  environment: Type.Unknown(),
  parameters: Type.Unknown(),
  configuration: Type.Unknown(),
  runtime: Type.Unknown(),
});

const compareRun = tool({
  name: 'compare_run',
  title: 'Compare a run with the last success',
  description:
    "Returns the differences from the script's last successful run: files, settings, packages, parameters, names of variables and secrets, and the runtime.",
  effect: 'reads',
  input: Type.Object({ run_id: RunId }),
  output: RunChanges,
  handle: async ({ run_id }, { api }) => {
    const { body } = await api.call<object>('GET', `/runs/${part(run_id)}/changes`);
    return picked(RunChanges, body);
  },
});

export const runTools: readonly Tool[] = [
  runScript,
  waitForRun,
  getRun,
  listRuns,
  listApprovals,
  readLogs,
  stopRun,
  explainRun,
  compareRun,
];

interface RunAnswer {
  readonly run_id: string;
  readonly status: string;
  readonly waiting_for: { readonly kind: string } | null;
  readonly log_lines: number | null;
  readonly error: RunError | null;
}

async function runOf(runId: string, api: Api): Promise<RunAnswer> {
  return (await api.call<RunAnswer>('GET', `/runs/${part(runId)}`)).body;
}

/** Polls until the run has ended, an approval is pending, the timeout is reached, or the request is cancelled. */
async function untilFinished(
  first: RunAnswer,
  waitSeconds: number,
  { api, progress, signal }: ToolUse,
): Promise<Static<typeof Waited>> {
  const startedAtMs = performance.now();
  let run = first;
  for (let told = ''; isActive(run); run = await runOf(run.run_id, api)) {
    const waitedMs = performance.now() - startedAtMs;
    // Does not wait for an approval, because a decision may take days.
    if (run.waiting_for?.kind === 'approval') break;
    if (waitedMs >= waitSeconds * 1000 || signal.aborted) break;
    if (run.status !== told)
      await progress(waitedMs / 1000, waitSeconds, `The run is ${run.status}.`);
    told = run.status;
    await pause(Math.min(pollEveryMs, waitSeconds * 1000 - waitedMs), undefined, { signal }).catch(
      () => undefined,
    );
  }
  const path = `/runs/${part(run.run_id)}/logs`;
  const log = await listOf(LogLine, path, { tail: shownLines }, { api, signal });
  return { run: picked(Run, run), finished: !isActive(run), log_tail: log.items };
}

function isActive({ status }: RunAnswer): boolean {
  return status === 'queued' || status === 'running';
}
