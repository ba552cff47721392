/** Reads run triggers. */
import type { TriggerType } from '#domain/run/run.ts';
import type { Queryable } from '../database.ts';

export interface RunTriggerRow {
  readonly run_id: string;
  readonly trigger_type: TriggerType;
}

/** Returns triggers by run ID. Runs that do not exist are omitted. */
export async function triggersOf(
  db: Queryable,
  runIds: readonly string[],
): Promise<readonly RunTriggerRow[]> {
  const { rows } = await db.query<RunTriggerRow>(
    'SELECT run_id, trigger_type FROM runs WHERE run_id = ANY($1)',
    [runIds],
  );
  return rows;
}
