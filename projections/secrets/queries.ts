import type { RunId, ScriptId } from '#domain/kernel/ids.ts';
import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';
import type { SecretsTable, SecretUsesTable } from './table.ts';

/** A secret as users see it. */
export type SecretView = Pick<
  SecretsTable,
  'name' | 'version' | 'as_environment' | 'updated_at' | 'updated_by'
> & {
  readonly last_used_at: SecretUsesTable['last_used_at'] | null;
  readonly last_used_by: SecretUsesTable['last_used_by'] | null;
};

/** The secrets of a script, by name, starting after `after`; at most `limit`. */
export async function listSecrets(
  db: ReadModels,
  scriptId: ScriptId,
  after: string | undefined,
  limit: number,
): Promise<readonly SecretView[]> {
  let query = views(db, scriptId).orderBy('secrets.name').limit(limit);
  if (after !== undefined) query = query.where('secrets.name', '>', after);
  return await query.execute();
}

/** One secret; `undefined` if it does not exist. */
export async function findSecret(
  db: ReadModels,
  scriptId: ScriptId,
  name: string,
): Promise<SecretView | undefined> {
  return await views(db, scriptId).where('secrets.name', '=', name).executeTakeFirst();
}

function views(db: ReadModels, scriptId: ScriptId) {
  return db
    .selectFrom('secrets')
    .leftJoin('secret_uses', (join) =>
      join
        .onRef('secret_uses.script_id', '=', 'secrets.script_id')
        .onRef('secret_uses.name', '=', 'secrets.name'),
    )
    .select(['secrets.name', 'version', 'as_environment', 'updated_at', 'updated_by'])
    .select(['last_used_at', 'last_used_by'])
    .where('secrets.script_id', '=', scriptId)
    .where('sealed', 'is not', null);
}

/** The version of a secret's last value, deleted or not; 0 if the secret never existed. */
export async function lastSecretVersion(
  db: ReadModels,
  scriptId: ScriptId,
  name: string,
): Promise<number> {
  const row = await db
    .selectFrom('secrets')
    .select('version')
    .where('script_id', '=', scriptId)
    .where('name', '=', name)
    .executeTakeFirst();
  return row?.version ?? 0;
}

/** A secret as the runtime decrypts it. */
export interface SealedSecret extends Pick<SecretsTable, 'name' | 'version' | 'as_environment'> {
  readonly sealed: NonNullable<SecretsTable['sealed']>;
}

/** The secrets of a script, or the secret of that name. */
export async function sealedSecrets(
  db: ReadModels,
  scriptId: ScriptId,
  name?: string,
): Promise<readonly SealedSecret[]> {
  let query = db
    .selectFrom('secrets')
    .select(['name', 'version', 'as_environment', 'sealed'])
    .where('script_id', '=', scriptId)
    .where('sealed', 'is not', null)
    .$narrowType<{ sealed: NonNullable<SecretsTable['sealed']> }>();
  if (name !== undefined) query = query.where('name', '=', name);
  return await query.orderBy('name').execute();
}

/** The secret versions of the original run, which a repeated run receives, by name. */
export async function pinnedVersions(
  db: ReadModels,
  runId: RunId,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ name: string; version: number }>`
    SELECT secret ->> 'name' AS name, (secret ->> 'version')::int AS version
    FROM runs JOIN events ON events.stream_id = 'secret_use-' || (runs.trigger ->> 'runId'),
      jsonb_array_elements(events.data -> 'secrets') AS secret
    WHERE runs.run_id = ${runId}::uuid AND (runs.trigger ->> 'exact')::boolean
    ORDER BY events.version`.execute(db);
  return new Map(rows.map((row) => [row.name, row.version]));
}

/** A value of a given version, even if it was replaced. */
export async function sealedVersion(
  db: ReadModels,
  scriptId: ScriptId,
  { name, version }: { readonly name: string; readonly version: number },
): Promise<Omit<SealedSecret, 'name' | 'version'> | undefined> {
  const { rows } = await sql<Omit<SealedSecret, 'name' | 'version'>>`
    SELECT (data ->> 'asEnvironment')::boolean AS as_environment, data -> 'sealed' AS sealed FROM events
    WHERE stream_id = ${`secret-${scriptId}`} AND type = 'SecretSet' AND data ->> 'name' = ${name}
      AND (data ->> 'version')::int = ${version}`.execute(db);
  return rows[0];
}
