/** Stores the input that a finished run passes to the runs it triggers. */
import type { RunId } from '#domain/kernel/ids.ts';
import { webhookPayload } from '#domain/webhook/payload.ts';
import type { Queryable } from '../database.ts';
import { putPayload } from './payloads.ts';

const read = `SELECT run_id, script_id, script_name, script_version, status, failure_reason, exit_code,
    finished_at, report.output
  FROM runs LEFT JOIN run_reports report USING (run_id) WHERE run_id = $1`;

/** Stores the input as a JSON payload, like a webhook body.
 *  @returns the SHA-256 of the payload */
export async function storeChainedInput(db: Queryable, runId: RunId): Promise<string> {
  const { rows } = await db.query<{ output: string | null }>(read, [runId]);
  const [run] = rows;
  if (run === undefined) throw new Error(`finished run missing from the read model: ${runId}`);
  const source = { ...run, output: JSON.parse(run.output ?? 'null') as unknown };
  const headers = { 'content-type': 'application/json' };
  return await putPayload(db, webhookPayload(headers, Buffer.from(JSON.stringify({ source }))));
}
