/** Actions of producers and workers, for tests. */
import { scriptId } from '#domain/testing/ids.ts';
import type { RawClient, Value } from './raw-client.ts';

export const jobs = 'runtime:jobs';

export interface Job {
  readonly job_id: string | null;
  readonly run_id: string;
  readonly params: unknown;
}

export function push(client: RawClient, job: object): Promise<Value> {
  return client.call('LPUSH', jobs, JSON.stringify({ script_id: scriptId(), ...job }));
}

export function jobOf(reply: Value): Job {
  return JSON.parse(reply as string) as Job;
}

export async function popped(client: RawClient, timeout = '0'): Promise<Job> {
  const reply = await client.call('BRPOP', jobs, timeout);
  return jobOf((reply as readonly Value[])[1] ?? null);
}

export function complete(client: RawClient, runId: string, body: object = {}): Promise<Value> {
  const message = JSON.stringify({ run_id: runId, status: 'success', ...body });
  return client.call('PUBLISH', 'script.completed', message);
}
