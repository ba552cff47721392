/** Finds upcoming due times for forecasts. */
import type { GroupId } from '#domain/kernel/ids.ts';
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';
import type { SchedulesTable } from './table.ts';

/** A schedule whose script is enabled and not deleted. */
export type ComingSchedule = Pick<
  SchedulesTable,
  'schedule_id' | 'script_id' | 'definition' | 'created_at'
> & { readonly script_name: string; readonly next_fire_at: Date };

const read = statement<ComingSchedule>(`
  SELECT schedule_id, script_id, s.name AS script_name, definition, c.created_at, next_fire_at
  FROM schedules c JOIN scripts s USING (script_id)
  WHERE next_fire_at < $2 AND s.enabled AND NOT s.deleted
    AND ($1::uuid[] IS NULL OR s.group_id = ANY($1))
  ORDER BY next_fire_at, schedule_id LIMIT $3`);

/** Returns schedules with a due time before `before`, earliest first. Returns at most `limit` schedules.
 *  @param groupIds the groups to include. `null` means all groups. */
export async function comingSchedules(
  db: ReadModels,
  groupIds: readonly GroupId[] | null,
  before: Date,
  limit: number,
): Promise<readonly ComingSchedule[]> {
  return await read(db, groupIds, before, limit);
}
