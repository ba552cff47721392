import type { ReadModels } from '../projection.ts';
import type { TriggerStateTable } from './table.ts';

/** The paused state, its time and its author; `undefined` if triggers were never paused. */
export async function triggerState(db: ReadModels): Promise<TriggerStateTable | undefined> {
  return await db.selectFrom('trigger_state').selectAll().executeTakeFirst();
}
