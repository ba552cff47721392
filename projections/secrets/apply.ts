import type { Recorded } from '#domain/aggregates.ts';
import type { GroupSecretEvent } from '#domain/group-secret/events.ts';
import type { SecretUseEvent } from '#domain/secret-use/events.ts';
import type { SecretEvent, SecretValue } from '#domain/secret/events.ts';
import { sql } from 'kysely';
import { actorName } from '../actors.ts';
import type { Projection, ReadModels } from '../projection.ts';
import { unnested } from '../rows.ts';

/** Builds the script secrets, as ciphertext. */
export const secretsProjection: Projection = {
  name: 'secrets',
  version: 1,
  handles: ['SecretSet', 'SecretDeleted'],
  tables: ['secrets'],
  apply: async (db, events) => {
    // Events are applied one by one, because a statement cannot write the same row twice. Secrets change rarely.
    for (const event of events as readonly Recorded<SecretEvent>[]) {
      const place = { ...ofScripts, ownerId: event.data.scriptId };
      if (event.type === 'SecretSet') await put(db, place, event, event.data);
      else await remove(db, place, event, event.data.name);
    }
  },
};

/** Builds the group secrets, as ciphertext. */
export const groupSecretsProjection: Projection = {
  name: 'group_secrets',
  version: 1,
  handles: ['GroupSecretSet', 'GroupSecretDeleted'],
  tables: ['group_secrets'],
  apply: async (db, events) => {
    for (const event of events as readonly Recorded<GroupSecretEvent>[]) {
      const place = { ...ofGroups, ownerId: event.data.groupId };
      if (event.type === 'GroupSecretSet') await put(db, place, event, event.data);
      else await remove(db, place, event, event.data.name);
    }
  },
};

const ofScripts = { table: 'secrets', owner: 'script_id' };
const ofGroups = { table: 'group_secrets', owner: 'group_id' };

/** The table for this kind of owner, and the ID of the owner. */
type Place = typeof ofScripts & { readonly ownerId: string };
type Cause = Pick<Recorded, 'version' | 'recordedAt' | 'metadata'>;

async function put(
  db: ReadModels,
  { table, owner, ownerId }: Place,
  event: Cause,
  { name, version, asEnvironment, rotateAfterDays, sealed, source }: SecretValue,
): Promise<void> {
  await sql`
    INSERT INTO ${sql.table(table)} AS present (${sql.ref(owner)}, name, stream_version, version,
      as_environment, rotate_after_days, sealed, source, updated_at, updated_by)
    VALUES (${ownerId}, ${name}, ${event.version}, ${version}, ${asEnvironment},
      ${rotateAfterDays ?? null}, ${JSON.stringify(sealed)},
      ${source === undefined ? null : JSON.stringify(source)}, ${event.recordedAt},
      ${actorName(event.metadata.actor)})
    ON CONFLICT (${sql.ref(owner)}, name) DO UPDATE SET stream_version = excluded.stream_version,
      version = excluded.version, as_environment = excluded.as_environment,
      rotate_after_days = excluded.rotate_after_days, sealed = excluded.sealed,
      source = excluded.source,
      updated_at = excluded.updated_at, updated_by = excluded.updated_by
    WHERE present.stream_version < excluded.stream_version`.execute(db);
}

async function remove(
  db: ReadModels,
  { table, owner, ownerId }: Place,
  event: Cause,
  name: string,
): Promise<void> {
  await sql`
    UPDATE ${sql.table(table)} SET stream_version = ${event.version}, as_environment = false,
      rotate_after_days = NULL, sealed = NULL, source = NULL, updated_at = ${event.recordedAt},
      updated_by = ${actorName(event.metadata.actor)}
    WHERE ${sql.ref(owner)} = ${ownerId} AND name = ${name}
      AND stream_version < ${event.version}`.execute(db);
}

/** Builds the last run that received each script secret, and the time at which the run received it. */
export const secretUsesProjection: Projection = {
  name: 'secret_uses',
  version: 2,
  handles: ['SecretsRead'],
  tables: ['secret_uses'],
  apply: async (db, events) => {
    const uses = usesOf(events).filter(({ groupId }) => groupId === undefined);
    await saveUses(db, 'secret_uses', ['script_id', 'name'], uses);
  },
};

/** Builds, for each script, the last run that received each group secret, and the time at which the run received it. */
export const groupSecretUsesProjection: Projection = {
  name: 'group_secret_uses',
  version: 1,
  handles: ['SecretsRead'],
  tables: ['group_secret_uses'],
  apply: async (db, events) => {
    const uses = usesOf(events).filter(({ groupId }) => groupId !== undefined);
    await saveUses(db, 'group_secret_uses', ['group_id', 'name', 'script_id'], uses);
  },
};

function usesOf(events: readonly Recorded[]) {
  return (events as readonly Recorded<SecretUseEvent>[]).flatMap(
    ({ data: { runId, scriptId, secrets }, recordedAt }) =>
      secrets.map(({ name, groupId }) => ({ groupId, scriptId, name, recordedAt, runId })),
  );
}

async function saveUses(
  db: ReadModels,
  table: string,
  key: readonly string[],
  uses: ReturnType<typeof usesOf>,
): Promise<void> {
  if (uses.length === 0) return;
  const column = (type: string, of: keyof (typeof uses)[number]) =>
    unnested(
      type,
      uses.map((use) => use[of] ?? null),
    );
  const columns = [
    column('uuid', 'groupId'),
    column('uuid', 'scriptId'),
    column('text', 'name'),
    column('timestamptz', 'recordedAt'),
    column('uuid', 'runId'),
  ];
  const keys = sql.join(key.map((name) => sql.ref(name)));
  await sql`
    INSERT INTO ${sql.table(table)} AS present (${keys}, last_used_at, last_used_by)
    SELECT DISTINCT ON (${keys}) ${keys}, at, run_id
    FROM unnest(${sql.join(columns)}) AS use (group_id, script_id, name, at, run_id)
    ORDER BY ${keys}, at DESC, run_id DESC
    ON CONFLICT (${keys}) DO UPDATE
    SET last_used_at = excluded.last_used_at, last_used_by = excluded.last_used_by
    WHERE (present.last_used_at, present.last_used_by)
      < (excluded.last_used_at, excluded.last_used_by)`.execute(db);
}
