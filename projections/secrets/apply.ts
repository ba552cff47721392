import type { Recorded } from '#domain/aggregates.ts';
import type { SecretUseEvent } from '#domain/secret-use/events.ts';
import type { SecretEvent } from '#domain/secret/events.ts';
import { sql } from 'kysely';
import { actorName } from '../actors.ts';
import type { Projection, ReadModels } from '../projection.ts';
import { unnested } from '../rows.ts';

type SecretRecorded = Recorded<SecretEvent>;

/** The secrets of scripts, as ciphertext. */
export const secretsProjection: Projection = {
  name: 'secrets',
  version: 1,
  handles: ['SecretSet', 'SecretDeleted'],
  tables: ['secrets'],
  apply: async (db, events) => {
    // One statement cannot write a row twice, and secrets change rarely.
    for (const event of events as readonly SecretRecorded[]) await applyOne(db, event);
  },
};

async function applyOne(db: ReadModels, event: SecretRecorded): Promise<void> {
  const { scriptId, name } = event.data;
  const by = actorName(event.metadata.actor);
  switch (event.type) {
    case 'SecretSet': {
      const { version, asEnvironment, sealed } = event.data;
      await sql`
        INSERT INTO secrets AS present (script_id, name, stream_version, version, as_environment,
          sealed, updated_at, updated_by)
        VALUES (${scriptId}, ${name}, ${event.version}, ${version}, ${asEnvironment},
          ${JSON.stringify(sealed)}, ${event.recordedAt}, ${by})
        ON CONFLICT (script_id, name) DO UPDATE SET stream_version = excluded.stream_version,
          version = excluded.version, as_environment = excluded.as_environment,
          sealed = excluded.sealed, updated_at = excluded.updated_at,
          updated_by = excluded.updated_by
        WHERE present.stream_version < excluded.stream_version`.execute(db);
      break;
    }
    case 'SecretDeleted':
      await sql`
        UPDATE secrets SET stream_version = ${event.version}, as_environment = false, sealed = NULL,
          updated_at = ${event.recordedAt}, updated_by = ${by}
        WHERE script_id = ${scriptId} AND name = ${name} AND stream_version < ${event.version}`.execute(
        db,
      );
      break;
  }
}

/** The last run that received each secret, and when. */
export const secretUsesProjection: Projection = {
  name: 'secret_uses',
  version: 2,
  handles: ['SecretsRead'],
  tables: ['secret_uses'],
  apply: async (db, events) => {
    const uses = (events as readonly Recorded<SecretUseEvent>[]).flatMap(
      ({ data: { runId, scriptId, secrets }, recordedAt }) =>
        secrets.map(({ name }) => ({ scriptId, name, recordedAt, runId })),
    );
    const column = (type: string, of: keyof (typeof uses)[number]) =>
      unnested(
        type,
        uses.map((use) => use[of]),
      );
    const columns = [
      column('uuid', 'scriptId'),
      column('text', 'name'),
      column('timestamptz', 'recordedAt'),
      column('uuid', 'runId'),
    ];
    await sql`
      INSERT INTO secret_uses AS present (script_id, name, last_used_at, last_used_by)
      SELECT DISTINCT ON (script_id, name) *
      FROM unnest(${sql.join(columns)}) AS use (script_id, name, at, run_id)
      ORDER BY script_id, name, at DESC, run_id DESC
      ON CONFLICT (script_id, name) DO UPDATE
      SET last_used_at = excluded.last_used_at, last_used_by = excluded.last_used_by
      WHERE (present.last_used_at, present.last_used_by)
        < (excluded.last_used_at, excluded.last_used_by)`.execute(db);
  },
};
