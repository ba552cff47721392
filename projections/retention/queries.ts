import type { RemovableKind } from '#domain/system/retention.ts';
import type { ReadModels } from '../projection.ts';
import type { RetentionTable } from './table.ts';

/** Returns the retention settings, with the user and the time of the last change. Returns `undefined` if they were
 *  never set. */
export async function retentionSetting(db: ReadModels): Promise<RetentionTable | undefined> {
  return await db.selectFrom('retention').selectAll().executeTakeFirst();
}

/** Returns the retention of each kind in days. `null` means forever. */
export async function daysKept(
  db: ReadModels,
): Promise<Readonly<Record<RemovableKind, number | null>>> {
  const row = await retentionSetting(db);
  return {
    logs: row?.logs_days ?? null,
    samples: row?.samples_days ?? null,
    artifacts: row?.artifacts_days ?? null,
    payloads: row?.payloads_days ?? null,
  };
}
