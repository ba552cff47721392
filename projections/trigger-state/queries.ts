import type { ReadModels } from '../projection.ts';
import type { TriggerStateTable } from './table.ts';

/** Whether, since when and by whom; `undefined` where nothing was ever paused. */
export async function triggerState(db: ReadModels): Promise<TriggerStateTable | undefined> {
  return await db.selectFrom('trigger_state').selectAll().executeTakeFirst();
}
