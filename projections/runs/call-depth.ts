import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';

/** How many runs asked for each other one after the other, up to this one; counted to `most`. */
export async function callDepth(db: ReadModels, runId: string, most: number): Promise<number> {
  const { rows } = await sql<{ depth: number }>`
    WITH RECURSIVE callers (trigger, depth) AS (
      SELECT trigger, 0 FROM runs WHERE run_id = ${runId}
      UNION ALL
      SELECT r.trigger, depth + 1 FROM callers c
        JOIN runs r ON r.run_id = (c.trigger ->> 'runId')::uuid AND c.trigger ->> 'cause' = 'script'
      WHERE depth < ${most}
    )
    SELECT max(depth) AS depth FROM callers`.execute(db);
  return rows[0]?.depth ?? 0;
}
