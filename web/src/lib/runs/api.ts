import { readApiError } from '#lib/api/api-error.ts';
import { client, sendAuthorized, unwrap } from '#lib/api/client.ts';
import { randomKey } from '#lib/api/random-key.ts';
import type { components, operations } from '#lib/api/schema.d.ts';
import type {
  Artifact,
  LogLevel,
  LogLine,
  LogStream,
  Page,
  Run,
  RunCauses,
  RunChanges,
  RunEvent,
  RunReasons,
  RunSample,
  RelatedRun,
  RunSpan,
  Timeseries,
} from '#lib/api/types.ts';

/** Filters of the run list, each in the format of `parseFilter`. An absent filter matches all runs. */
export interface RunFilter {
  status?: string;
  trigger_type?: string;
  script_id?: string;
  group_id?: string;
  error_group_id?: string;
  q?: string;
  /** The earliest request time, inclusive (RFC 3339). */
  from?: string;
  /** The latest request time, exclusive (RFC 3339). */
  to?: string;
  /** The sort order; the newest run comes first by default. */
  sort?: RunSort;
}

type RunSort = NonNullable<operations['listRuns']['parameters']['query']>['sort'] & string;

const pageLimit = 50;

export function listRuns(
  filter: RunFilter,
  cursor: string | null,
  limit = pageLimit,
): Promise<Page<Run>> {
  const query = { ...filter, limit, ...(cursor ? { cursor } : {}) };
  return unwrap(client.GET('/api/v1/runs', { params: { query } }));
}

/** Returns the number of runs that ended in the last 30 days, in buckets of six hours. */
export function runTimeseries(): Promise<Timeseries> {
  const from = new Date(Date.now() - 30 * 86_400_000).toISOString();
  const query = { metric: 'runs', from, bucket: 21_600 } as const;
  // The generated types describe a data point as an array instead of a pair.
  return unwrap(
    client.GET('/api/v1/dashboard/timeseries', { params: { query } }),
  ) as Promise<Timeseries>;
}

export function listScriptRuns(id: string, cursor: string | null): Promise<Page<Run>> {
  const query = { limit: pageLimit, ...(cursor ? { cursor } : {}) };
  return unwrap(client.GET('/api/v1/runs/scripts/{id}/runs', { params: { path: { id }, query } }));
}

export function getRun(runId: string): Promise<Run> {
  return unwrap(client.GET('/api/v1/runs/{run_id}', { params: { path: { run_id: runId } } }));
}

/** Options of a run other than its parameters. */
export type RunChoices = Omit<components['schemas']['RunRequest'], 'params'>;

/** @throws ApiError 409 if the script is disabled, or if it is at its concurrency limit and the run must not wait */
export function startRun(
  scriptId: string,
  params?: Record<string, unknown>,
  choices: RunChoices = {},
): Promise<Run> {
  return unwrap(
    client.POST('/api/v1/runs/scripts/{id}/run', {
      params: { path: { id: scriptId }, header: { 'Idempotency-Key': randomKey() } },
      body: { ...choices, ...(params && { params }) },
    }),
  );
}

/** Reruns a run with its parameters.
 *  @param version `same` uses exactly the code and settings of the original run
 *  @throws ApiError 409 if the script is disabled, or if it is at its concurrency limit and `whenBusy` is `refuse` */
export function rerunRun(
  runId: string,
  version: 'same' | 'latest',
  whenBusy: 'refuse' | 'queue' = 'refuse',
): Promise<Run> {
  return unwrap(
    client.POST('/api/v1/runs/{run_id}/rerun', {
      params: { path: { run_id: runId }, header: { 'Idempotency-Key': randomKey() } },
      body: { version, when_busy: whenBusy },
    }),
  );
}

/** @throws ApiError 409 if the run has already ended */
export async function stopRun(runId: string): Promise<void> {
  await unwrap(client.POST('/api/v1/runs/{run_id}/stop', { params: { path: { run_id: runId } } }));
}

/** Stops all active runs of a script. @returns the number of stopped runs @throws ApiError 409 if no run is active */
export async function stopScript(scriptId: string): Promise<number> {
  const params = { path: { id: scriptId } };
  return (await unwrap(client.POST('/api/v1/runs/scripts/{id}/stop', { params }))).items.length;
}

/** Returns the run's resource usage samples, oldest first. */
export async function runSamples(runId: string): Promise<RunSample[]> {
  const params = { path: { run_id: runId } };
  return (await unwrap(client.GET('/api/v1/runs/{run_id}/samples', { params }))).items;
}

/** Returns the steps of a run and the spans that its script reported. */
export async function runSpans(runId: string): Promise<RunSpan[]> {
  const params = { path: { run_id: runId } };
  return (await unwrap(client.GET('/api/v1/runs/{run_id}/spans', { params }))).items;
}

/** Returns all runs of the run's trigger chain, including the run itself, oldest first. */
export async function relatedRuns(runId: string): Promise<RelatedRun[]> {
  const params = { path: { run_id: runId } };
  return (await unwrap(client.GET('/api/v1/runs/{run_id}/timeline', { params }))).items;
}

/** Returns at most 200 log lines, starting at `fromSeq`. */
export async function logPage(runId: string, fromSeq: number): Promise<LogLine[]> {
  return (await logs(runId, { from_seq: fromSeq, limit: 200 })).items;
}

/** Returns the last `lines` log lines. */
export async function logTail(runId: string, lines: number): Promise<LogLine[]> {
  return (await logs(runId, { tail: lines, limit: lines })).items;
}

/** Returns the log lines from `from` to `to`, without the lines that were truncated from the log. */
export async function logLines(runId: string, from: number, to: number): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  for (let next = from; next <= to;) {
    const page = await logPage(runId, next);
    lines.push(...page.filter(({ seq }) => seq <= to));
    const last = page.at(-1);
    if (!last) break;
    next = last.seq + 1;
  }
  return lines;
}

/** Returns the number of the first line in the next block of error lines after line `seq`, or null if none exists. */
export async function nextErrorLine(runId: string, seq: number): Promise<number | null> {
  let previous = seq;
  for (;;) {
    const { items } = await logs(runId, { level: 'error', from_seq: previous + 1, limit: 200 });
    for (const line of items) {
      // Consecutive error lines form one block.
      if (line.seq !== previous + 1 || previous === 0) return line.seq;
      previous = line.seq;
    }
    if (items.length === 0) return null;
  }
}

export interface LogFilter {
  q?: string;
  stream?: LogStream;
  /** The minimum severity. */
  level?: LogLevel;
}

/** Returns one page of the log lines that match a search. */
export function searchLogs(
  runId: string,
  filter: LogFilter,
  cursor: string | null,
): Promise<Page<LogLine>> {
  return logs(runId, { ...filter, limit: 200, ...(cursor ? { cursor } : {}) });
}

/** Downloads the whole log as plain text. */
export async function logText(runId: string): Promise<Blob> {
  const address = `/api/v1/runs/${runId}/logs?format=text`;
  const response = await sendAuthorized(new Request(address));
  if (!response.ok) throw await readApiError(response);
  return response.blob();
}

type LogQuery = { from_seq?: number; tail?: number; limit: number; cursor?: string } & LogFilter;

function logs(runId: string, query: LogQuery): Promise<Page<LogLine>> {
  return unwrap(
    client.GET('/api/v1/runs/{run_id}/logs', { params: { path: { run_id: runId }, query } }),
  );
}

const pathOf = (runId: string) => ({ path: { run_id: runId } });

export function runReasons(runId: string): Promise<RunReasons> {
  return unwrap(client.GET('/api/v1/runs/{run_id}/why', { params: pathOf(runId) }));
}

/** Returns what has changed since the script's last successful run before this run. */
export function runChanges(runId: string): Promise<RunChanges> {
  return unwrap(client.GET('/api/v1/runs/{run_id}/changes', { params: pathOf(runId) }));
}

export function runCauses(runId: string): Promise<RunCauses> {
  return unwrap(client.GET('/api/v1/runs/{run_id}/causes', { params: pathOf(runId) }));
}

export async function runEvents(runId: string): Promise<RunEvent[]> {
  const params = pathOf(runId);
  return (await unwrap(client.GET('/api/v1/runs/{run_id}/events', { params }))).items;
}

/** Returns one page of a run's artifacts, sorted by path. */
export function runArtifacts(runId: string, cursor: string | null): Promise<Page<Artifact>> {
  const params = { ...pathOf(runId), query: { limit: 100, ...(cursor && { cursor }) } };
  return unwrap(client.GET('/api/v1/runs/{run_id}/artifacts', { params }));
}

export async function artifactContent(runId: string, path: string): Promise<Blob> {
  const name = path.split('/').map(encodeURIComponent).join('/');
  const response = await sendAuthorized(new Request(`/api/v1/runs/${runId}/artifacts/${name}`));
  if (!response.ok) throw await readApiError(response);
  return response.blob();
}
