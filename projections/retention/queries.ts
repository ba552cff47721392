import type { RemovableKind } from '#domain/system/retention.ts';
import type { ReadModels } from '../projection.ts';
import type { RetentionTable } from './table.ts';

/** The setting, by whom and when it was made; `undefined` where there was never any. */
export async function retentionSetting(db: ReadModels): Promise<RetentionTable | undefined> {
  return await db.selectFrom('retention').selectAll().executeTakeFirst();
}

/** Days that each kind is kept; `null` is for ever. */
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
