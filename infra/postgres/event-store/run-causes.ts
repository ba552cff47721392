/** Finds the causes of events, and the retries of a run. */
import type { RecordedEvent } from '#domain/kernel/event.ts';
import type { Queryable } from '../database.ts';
import { readStream } from './event-store.ts';

const places = `SELECT stream_id, version, event_id FROM events WHERE event_id = ANY($1::uuid[])`;
const repeats = `SELECT run_id FROM runs WHERE parent_run_id = $1 ORDER BY run_id`;

/** Returns the events that caused the given events, by ID. */
export async function causingEvents(
  db: Queryable,
  events: readonly RecordedEvent[],
): Promise<ReadonlyMap<string, RecordedEvent>> {
  const ids = [...new Set(events.flatMap((event) => event.metadata.causationId ?? []))];
  if (ids.length === 0) return new Map();
  const { rows } = await db.query<{
    stream_id: RecordedEvent['streamId'];
    version: number;
    event_id: string;
  }>(places, [ids]);
  const causes = new Map<string, RecordedEvent>();
  for (const { stream_id: streamId, version, event_id: id } of rows) {
    const [cause] = await readStream(db, streamId, version);
    if (cause !== undefined) causes.set(id, cause);
  }
  return causes;
}

/** Returns the later attempts of a run. */
export async function runsThatRepeat(db: Queryable, runId: string): Promise<readonly string[]> {
  const { rows } = await db.query<{ run_id: string }>(repeats, [runId]);
  return rows.map((row) => row.run_id);
}
