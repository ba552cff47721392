/** What happened to one script, from its own stream. */
import type { Recorded } from '#domain/aggregates.ts';
import type { EventMetadata } from '#domain/kernel/event.ts';
import type { ScriptId } from '#domain/kernel/ids.ts';
import type { ScriptEvent } from '#domain/script/events.ts';
import type { Queryable } from '#infra/postgres/database.ts';

const read = `SELECT version, global_position, type, data, metadata, recorded_at FROM events
  WHERE stream_id = $1 AND version < $2 ORDER BY version DESC LIMIT $3`;

/** One event, as a list shows it. */
export interface Happening {
  /** Place in the script's own stream, from 1. */
  readonly version: number;
  readonly global_position: number;
  readonly type: Recorded<ScriptEvent>['type'];
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: EventMetadata;
  readonly recorded_at: Date;
}

/** Newest first, from before the place `before` in the stream; at most `limit`. */
export async function scriptHistory(
  db: Queryable,
  scriptId: ScriptId,
  before: number | undefined,
  limit: number,
): Promise<readonly Happening[]> {
  const place = before ?? Number.MAX_SAFE_INTEGER;
  const { rows } = await db.query<Happening>(read, [`script-${scriptId}`, place, limit]);
  return rows;
}
