import type { Recorded } from '#domain/aggregates.ts';
import type { RuntimeEvent } from '#domain/runtime/events.ts';
import { sql } from 'kysely';
import { actorName } from '../actors.ts';
import type { Projection } from '../projection.ts';

/** Builds the drained runtimes. Claims read this table. */
export const runtimeDrainsProjection: Projection = {
  name: 'runtime_drains',
  version: 1,
  handles: ['RuntimeDrained', 'RuntimeResumed'],
  tables: ['runtime_drains'],
  apply: async (db, events) => {
    for (const event of events as readonly Recorded<RuntimeEvent>[]) {
      const { type, data, version, recordedAt, metadata } = event;
      await sql`
        INSERT INTO runtime_drains AS present
          (runtime_id, stream_version, drained, changed_at, changed_by)
        VALUES (${data.runtimeId}, ${version}, ${type === 'RuntimeDrained'}, ${recordedAt},
          ${actorName(metadata.actor)})
        ON CONFLICT (runtime_id) DO UPDATE SET stream_version = excluded.stream_version,
          drained = excluded.drained, changed_at = excluded.changed_at,
          changed_by = excluded.changed_by
        WHERE present.stream_version < excluded.stream_version`.execute(db);
    }
  },
};
