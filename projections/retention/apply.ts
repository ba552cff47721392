import type { Recorded } from '#domain/aggregates.ts';
import type { RetentionChanged } from '#domain/system/events.ts';
import { sql } from 'kysely';
import { actorName } from '../actors.ts';
import type { Projection } from '../projection.ts';

/** Builds the retention settings. */
export const retentionProjection: Projection = {
  name: 'retention',
  version: 1,
  handles: ['RetentionChanged'],
  tables: ['retention'],
  apply: async (db, events) => {
    const last = (events as readonly Recorded<RetentionChanged>[]).at(-1);
    if (last === undefined) return;
    const { logsDays, samplesDays, artifactsDays, payloadsDays } = last.data;
    const by = actorName(last.metadata.actor);
    await sql`
      INSERT INTO retention AS present (singleton, stream_version, logs_days, samples_days,
        artifacts_days, payloads_days, changed_at, changed_by)
      VALUES (true, ${last.version}, ${logsDays}, ${samplesDays}, ${artifactsDays}, ${payloadsDays},
        ${last.recordedAt}, ${by})
      ON CONFLICT (singleton) DO UPDATE SET stream_version = excluded.stream_version,
        logs_days = excluded.logs_days, samples_days = excluded.samples_days,
        artifacts_days = excluded.artifacts_days, payloads_days = excluded.payloads_days,
        changed_at = excluded.changed_at, changed_by = excluded.changed_by
      WHERE present.stream_version < excluded.stream_version`.execute(db);
  },
};
