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

/** Filters for the list of all runs, each in the format of `parseFilter`; absent means all. */
export interface RunFilter {
  status?: string;
  trigger_type?: string;
  script_id?: string;
  group_id?: string;
  error_group_id?: string;
  q?: string;
  /** RFC 3339: the earliest request time. */
  from?: string;
  /** RFC 3339: the time before which the runs were requested. */
  to?: string;
  /** Absent: newest first. */
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

/** The number of runs that ended in the last 30 days, by six hours. */
export function runTimeseries(): Promise<Timeseries> {
  const from = new Date(Date.now() - 30 * 86_400_000).toISOString();
  const query = { metric: 'runs', from, bucket: 21_600 } as const;
  // The generated types describe a point as an array, not as a pair.
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

/** Options of a single run in addition to its parameters. */
export type RunChoices = Omit<components['schemas']['RunRequest'], 'params'>;

/** @throws ApiError 409 if the script is disabled, or at its concurrency limit and the run must not wait */
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
 *  @param version `same` for exactly the code and settings of the original run
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

/** Stops all active runs of a script.
 *  @returns their number
 *  @throws ApiError 409 if no run is active */
export async function stopScript(scriptId: string): Promise<number> {
  const params = { path: { id: scriptId } };
  return (await unwrap(client.POST('/api/v1/runs/scripts/{id}/stop', { params }))).items.length;
}

/** The resource samples of the run, oldest first. */
export async function runSamples(runId: string): Promise<RunSample[]> {
  const params = { path: { run_id: runId } };
  return (await unwrap(client.GET('/api/v1/runs/{run_id}/samples', { params }))).items;
}

/** The steps of a run and the spans of its script. */
export async function runSpans(runId: string): Promise<RunSpan[]> {
  const params = { path: { run_id: runId } };
  return (await unwrap(client.GET('/api/v1/runs/{run_id}/spans', { params }))).items;
}

/** The run and all other runs of its trigger chain, oldest first. */
export async function relatedRuns(runId: string): Promise<RelatedRun[]> {
  const params = { path: { run_id: runId } };
  return (await unwrap(client.GET('/api/v1/runs/{run_id}/timeline', { params }))).items;
}

/** The lines from `fromSeq` on, at most 200. */
export async function logPage(runId: string, fromSeq: number): Promise<LogLine[]> {
  return (await logs(runId, { from_seq: fromSeq, limit: 200 })).items;
}

/** The last `lines` lines. */
export async function logTail(runId: string, lines: number): Promise<LogLine[]> {
  return (await logs(runId, { tail: lines, limit: lines })).items;
}

/** The lines from `from` to `to`, without truncated lines. */
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

/** The first line of the next block of errors after line `seq`; null if no such line exists. */
export async function nextErrorLine(runId: string, seq: number): Promise<number | null> {
  let previous = seq;
  for (;;) {
    const { items } = await logs(runId, { level: 'error', from_seq: previous + 1, limit: 200 });
    for (const line of items) {
      // Consecutive error lines are one block.
      if (line.seq !== previous + 1 || previous === 0) return line.seq;
      previous = line.seq;
    }
    if (items.length === 0) return null;
  }
}

export interface LogFilter {
  q?: string;
  stream?: LogStream;
  /** The least severe level. */
  level?: LogLevel;
}

/** The lines that match a search, a page at a time. */
export function searchLogs(
  runId: string,
  filter: LogFilter,
  cursor: string | null,
): Promise<Page<LogLine>> {
  return logs(runId, { ...filter, limit: 200, ...(cursor ? { cursor } : {}) });
}

/** The whole log as plain text. */
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

/** The differences from the script's last successful run before the run. */
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

/** A page of a run's artifacts, by path. */
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
