import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';

/** Returns the number of runs in the sequence that led to this run, including this run. The sequence consists of
 *  runs that started the next run through a chain or a request from their script. A retry counts as much as its
 *  first attempt.
 *  @param most the number at which counting stops */
export async function causeDepth(db: ReadModels, runId: string, most: number): Promise<number> {
  const { rows } = await sql<{ depth: number }>`
    WITH RECURSIVE causes (trigger, depth) AS (
      SELECT trigger, 0 FROM runs WHERE run_id = ${runId}
      UNION ALL
      SELECT r.trigger, depth + CASE WHEN c.trigger ->> 'type' = 'retry' THEN 0 ELSE 1 END
      FROM causes c JOIN runs r ON r.run_id = (c.trigger ->> 'runId')::uuid
        AND (c.trigger ->> 'cause' IN ('script', 'chain') OR c.trigger ->> 'type' = 'retry')
      WHERE depth < ${most}
    )
    SELECT max(depth) AS depth FROM causes`.execute(db);
  return rows[0]?.depth ?? 0;
}
