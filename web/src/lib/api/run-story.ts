/** What a run came from, what happened to it, and what it left behind. */
import { readApiError } from './api-error.ts';
import { client, sendAuthorized, unwrap } from './client.ts';
import type { Artifact, Page, RunCauses, RunEvent, RunReasons } from './types.ts';

const of = (runId: string) => ({ path: { run_id: runId } });

export function runReasons(runId: string): Promise<RunReasons> {
  return unwrap(client.GET('/api/v1/runs/{run_id}/why', { params: of(runId) }));
}

export function runCauses(runId: string): Promise<RunCauses> {
  return unwrap(client.GET('/api/v1/runs/{run_id}/causes', { params: of(runId) }));
}

export async function runEvents(runId: string): Promise<RunEvent[]> {
  const params = of(runId);
  return (await unwrap(client.GET('/api/v1/runs/{run_id}/events', { params }))).items;
}

/** A page of what the run gave to keep, by path. */
export function runArtifacts(runId: string, cursor: string | null): Promise<Page<Artifact>> {
  const params = { ...of(runId), query: { limit: 100, ...(cursor && { cursor }) } };
  return unwrap(client.GET('/api/v1/runs/{run_id}/artifacts', { params }));
}

export async function artifactContent(runId: string, path: string): Promise<Blob> {
  const name = path.split('/').map(encodeURIComponent).join('/');
  const response = await sendAuthorized(new Request(`/api/v1/runs/${runId}/artifacts/${name}`));
  if (!response.ok) throw await readApiError(response);
  return response.blob();
}
