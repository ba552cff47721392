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
    // Few are written, and one statement cannot write a row twice.
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

/** When a run was last given which secret. */
export const secretUsesProjection: Projection = {
  name: 'secret_uses',
  version: 1,
  handles: ['SecretsRead'],
  tables: ['secret_uses'],
  apply: async (db, events) => {
    const uses = (events as readonly Recorded<SecretUseEvent>[]).flatMap(
      ({ data: { scriptId, secrets }, recordedAt }) =>
        secrets.map(({ name }) => ({ scriptId, name, recordedAt })),
    );
    const columns = [
      unnested(
        'uuid',
        uses.map((use) => use.scriptId),
      ),
      unnested(
        'text',
        uses.map((use) => use.name),
      ),
      unnested(
        'timestamptz',
        uses.map((use) => use.recordedAt),
      ),
    ];
    await sql`
      INSERT INTO secret_uses AS present (script_id, name, last_used_at)
      SELECT script_id, name, max(at) FROM unnest(${sql.join(columns)}) AS use (script_id, name, at)
      GROUP BY script_id, name
      ON CONFLICT (script_id, name) DO UPDATE
      SET last_used_at = GREATEST(present.last_used_at, excluded.last_used_at)`.execute(db);
  },
};
