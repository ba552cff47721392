import type { ReadModels } from '../projection.ts';
import type { TriggerStateTable } from './table.ts';

/** Returns whether triggers are paused, and when and by whom this was last changed. Returns `undefined` if triggers
 *  were never paused. */
export async function triggerState(db: ReadModels): Promise<TriggerStateTable | undefined> {
  return await db.selectFrom('trigger_state').selectAll().executeTakeFirst();
}
