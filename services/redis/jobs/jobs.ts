/** Builds the jobs that clients receive. */
import type { ReadModels } from '#projections/projection.ts';
import { findRuns } from '#projections/runs/queries.ts';
import type { RunsTable } from '#projections/runs/table.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { readParams } from '#infra/postgres/operations/params.ts';

export interface JobsDeps {
  readonly reads: ReadModels;
  readonly database: Queryable;
  readonly leaseSeconds: number;
}

/** Returns jobs as JSON by run ID, without deleted runs. @param jobIds the lease ID of each run */
export async function jobsOf(
  runIds: readonly string[],
  jobIds: ReadonlyMap<string, string>,
  { reads, database, leaseSeconds }: JobsDeps,
): Promise<ReadonlyMap<string, string>> {
  const runs = runIds.length === 0 ? [] : await findRuns(reads, runIds);
  const params = await readParams(
    database,
    runs.map((run) => run.params_sha256),
  );
  return new Map(
    runs.map((run) => {
      const { run_id: runId, params_sha256: sha256 } = run;
      const jobId = jobIds.get(runId) ?? null;
      return [runId, JSON.stringify(job(run, jobId, params.get(sha256) ?? null, leaseSeconds))];
    }),
  );
}

function job(run: RunsTable, jobId: string | null, params: unknown, leaseSeconds: number) {
  return {
    job_id: jobId,
    run_id: run.run_id,
    script_id: run.script_id,
    script_version: run.script_version,
    trigger_type: run.trigger_type,
    params,
    attempt: run.attempt,
    enqueued_at: run.queued_at,
    lease_seconds: leaseSeconds,
  };
}
