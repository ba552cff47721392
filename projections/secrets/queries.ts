import type { GroupId, RunId, ScriptId } from '#domain/kernel/ids.ts';
import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';
import type { SecretsTable } from './table.ts';

/** The owner of secrets. Secrets of a group are passed to all scripts in the group. */
export type SecretOwner =
  | { readonly kind: 'script'; readonly id: ScriptId }
  | { readonly kind: 'group'; readonly id: GroupId };

/** A script that received a secret, and the last of its runs that received the secret. */
export interface SecretUser {
  readonly script_id: string;
  readonly run_id: string;
  readonly last_used_at: Date;
}

/** The data of a secret that users may see. */
export type SecretView = Pick<
  SecretsTable,
  | 'name'
  | 'version'
  | 'as_environment'
  | 'rotate_after_days'
  | 'source'
  | 'updated_at'
  | 'updated_by'
> & {
  /** The scripts that received the secret, latest first. For a group secret, only scripts that are still in the
   *  group are included. */
  readonly used_by: readonly SecretUser[];
};

const tables = {
  script: {
    secrets: sql`secrets`,
    owner: sql`script_id`,
    uses: sql`SELECT * FROM secret_uses`,
  },
  group: {
    secrets: sql`group_secrets`,
    owner: sql`group_id`,
    uses: sql`SELECT uses.* FROM group_secret_uses uses
      JOIN scripts USING (script_id, group_id) WHERE NOT scripts.deleted`,
  },
};

/** Lists the secrets of an owner, sorted by name, starting after `after`. Returns at most `limit` secrets. */
export async function listSecrets(
  db: ReadModels,
  owner: SecretOwner,
  after: string | undefined,
  limit: number,
): Promise<readonly SecretView[]> {
  return await views(db, owner, sql`name > ${after ?? ''}`, limit);
}

/** Returns a secret, or `undefined` if it does not exist. */
export async function findSecret(
  db: ReadModels,
  owner: SecretOwner,
  name: string,
): Promise<SecretView | undefined> {
  return (await views(db, owner, sql`name = ${name}`, 1))[0];
}

async function views(
  db: ReadModels,
  { kind, id }: SecretOwner,
  condition: ReturnType<typeof sql>,
  limit: number,
): Promise<readonly SecretView[]> {
  const { secrets, owner, uses } = tables[kind];
  const { rows } = await sql<SecretView>`
    SELECT name, version, as_environment, rotate_after_days, source, updated_at, updated_by,
      (SELECT coalesce(json_agg(json_build_object('script_id', script_id, 'run_id', last_used_by,
          'last_used_at', last_used_at) ORDER BY last_used_at DESC), '[]')
        FROM (${uses}) AS use WHERE use.${owner} = secret.${owner} AND use.name = secret.name) AS used_by
    FROM ${secrets} AS secret
    WHERE ${owner} = ${id} AND sealed IS NOT NULL AND ${condition}
    ORDER BY name LIMIT ${limit}`.execute(db);
  return rows.map((row) => ({
    ...row,
    used_by: row.used_by.map((use) => ({ ...use, last_used_at: new Date(use.last_used_at) })),
  }));
}

/** Returns the version of a secret's latest value, even if the secret was deleted. Returns 0 if the secret never
 *  existed. */
export async function lastSecretVersion(
  db: ReadModels,
  { kind, id }: SecretOwner,
  name: string,
): Promise<number> {
  const { secrets, owner } = tables[kind];
  const { rows } = await sql<{ version: number }>`
    SELECT version FROM ${secrets} WHERE ${owner} = ${id} AND name = ${name}`.execute(db);
  return rows[0]?.version ?? 0;
}

/** A secret with the encrypted value that the runtime decrypts. */
export interface SealedSecret extends Pick<
  SecretsTable,
  'name' | 'version' | 'as_environment' | 'source'
> {
  readonly sealed: NonNullable<SecretsTable['sealed']>;
  /** The group that owns the secret. `null` if the script owns the secret. */
  readonly group_id: GroupId | null;
}

/** Returns the secrets that a script receives, or only the secret with the given name. If a script secret and a
 *  group secret have the same name, the script secret takes precedence. */
export async function sealedSecrets(
  db: ReadModels,
  scriptId: ScriptId,
  name?: string,
): Promise<readonly SealedSecret[]> {
  const named = name === undefined ? sql`true` : sql`name = ${name}`;
  const { rows } = await sql<SealedSecret>`
    WITH own AS (
      SELECT name, version, as_environment, sealed, source, NULL::uuid AS group_id FROM secrets
      WHERE script_id = ${scriptId} AND sealed IS NOT NULL AND ${named})
    SELECT * FROM own
    UNION ALL
    SELECT name, version, as_environment, sealed, source, group_id FROM group_secrets
    WHERE group_id = (SELECT group_id FROM scripts WHERE script_id = ${scriptId})
      AND sealed IS NOT NULL AND ${named} AND name NOT IN (SELECT name FROM own)
    ORDER BY name`.execute(db);
  return rows;
}

/** The encrypted value of one version of a secret. */
export type SecretVersion = Pick<SealedSecret, 'name' | 'version' | 'group_id'>;

/** Returns the secret versions of the original run by name. A rerun can receive the same versions. */
export async function pinnedVersions(
  db: ReadModels,
  runId: RunId,
): Promise<ReadonlyMap<string, SecretVersion>> {
  const { rows } = await sql<SecretVersion>`
    SELECT secret ->> 'name' AS name, (secret ->> 'version')::int AS version,
      (secret ->> 'groupId')::uuid AS group_id
    FROM runs JOIN events ON events.stream_id = 'secret_use-' || (runs.trigger ->> 'runId'),
      jsonb_array_elements(events.data -> 'secrets') AS secret
    WHERE runs.run_id = ${runId}::uuid AND (runs.trigger ->> 'exact')::boolean
    ORDER BY events.version`.execute(db);
  return new Map(rows.map((row) => [row.name, row]));
}

/** Returns the encrypted value of a version of a secret, even if a newer version has replaced it. */
export async function sealedVersion(
  db: ReadModels,
  scriptId: ScriptId,
  { name, version, group_id: groupId }: SecretVersion,
): Promise<SealedSecret | undefined> {
  const stream = groupId === null ? `secret-${scriptId}` : `group_secret-${groupId}`;
  const { rows } = await sql<Pick<SealedSecret, 'as_environment' | 'sealed' | 'source'>>`
    SELECT (data ->> 'asEnvironment')::boolean AS as_environment, data -> 'sealed' AS sealed,
      data -> 'source' AS source
    FROM events
    WHERE stream_id = ${stream} AND type IN ('SecretSet', 'GroupSecretSet')
      AND data ->> 'name' = ${name} AND (data ->> 'version')::int = ${version}`.execute(db);
  return rows[0] && { name, version, group_id: groupId, ...rows[0] };
}
