import { sql } from 'kysely';
import { actorName } from '../actors.ts';
import type { Projection } from '../projection.ts';

/** Records whether automatic starts are paused. */
export const triggerStateProjection: Projection = {
  name: 'trigger_state',
  version: 1,
  handles: ['TriggersPaused', 'TriggersResumed'],
  tables: ['trigger_state'],
  apply: async (db, events) => {
    const last = events.at(-1);
    if (last === undefined) return;
    const paused = last.type === 'TriggersPaused';
    const by = actorName(last.metadata.actor);
    await sql`
      INSERT INTO trigger_state AS present (singleton, stream_version, paused, since, changed_by)
      VALUES (true, ${last.version}, ${paused}, ${last.recordedAt}, ${by})
      ON CONFLICT (singleton) DO UPDATE SET stream_version = excluded.stream_version,
        paused = excluded.paused, since = excluded.since, changed_by = excluded.changed_by
      WHERE present.stream_version < excluded.stream_version`.execute(db);
  },
};
