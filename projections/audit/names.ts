/** Looks up the current names of the resources in audit entries. */
import { sql, type RawBuilder } from 'kysely';
import type { ReadModels } from '../projection.ts';
import { containing } from '../scripts/search.ts';

/** For each kind, a query that selects the IDs and names of resources. Runs, script secrets and schedules have the name
 *  of their script, after the schedule's own name if it has one. Group secrets have the name of their group. Users and sessions have the user's email
 *  address. Chains have the names of both scripts. */
const named: Readonly<Record<string, RawBuilder<unknown>>> = {
  script: sql`SELECT script_id AS id, name FROM scripts`,
  secret: sql`SELECT script_id AS id, name FROM scripts`,
  group_secret: sql`SELECT group_id AS id, name FROM groups`,
  schedule: sql`SELECT schedule_id AS id,
    COALESCE(definition ->> 'name' || ' (' || scripts.name || ')', scripts.name) AS name
    FROM schedules JOIN scripts USING (script_id)`,
  webhook: sql`SELECT webhook_id AS id, name FROM webhooks`,
  chain: sql`SELECT chain_id AS id, source.name || ' → ' || target.name AS name FROM chains
    JOIN scripts source ON source.script_id = source_script_id
    JOIN scripts target ON target.script_id = target_script_id`,
  run: sql`SELECT run_id AS id, script_name AS name FROM runs`,
  user: sql`SELECT user_id AS id, email AS name FROM users`,
  session: sql`SELECT session_id AS id, email AS name FROM sessions JOIN users USING (user_id)`,
  token: sql`SELECT token_id AS id, name FROM api_tokens`,
  group: sql`SELECT group_id AS id, name FROM groups`,
  channel: sql`SELECT channel_id AS id, name FROM notification_channels`,
  rule: sql`SELECT rule_id AS id, settings ->> 'name' AS name FROM notification_rules`,
};
/** The kinds of resources whose names can be looked up. */
export const resourceKinds = Object.keys(named);
/** The resource kinds that can be searched by name. Runs and sessions are too numerous. */
const searched = resourceKinds.filter((kind) => kind !== 'run' && kind !== 'session');
const maxFound = 500;

const form = /^([a-z_]+)-([0-9a-f-]{36})$/;

/** Returns names by resource. Resources that no longer exist are omitted. */
export async function resourceNames(
  db: ReadModels,
  resources: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const ids = Map.groupBy(
    resources.flatMap((resource) => {
      const [, kind = '', id = ''] = form.exec(resource) ?? [];
      return kind in named ? [{ kind, id }] : [];
    }),
    ({ kind }) => kind,
  );
  if (ids.size === 0) return new Map();
  const found = await namesWhere(db, [...ids.keys()], (kind) => {
    return sql`id = ANY(${ids.get(kind)?.map(({ id }) => id) ?? []}::uuid[])`;
  });
  return new Map(found.map(({ resource, name }) => [resource, name]));
}

/** Returns the resources whose name contains the text, ignoring case. */
export async function resourcesNamed(db: ReadModels, text: string): Promise<readonly string[]> {
  const found = await namesWhere(db, searched, () => sql`lower(name) LIKE ${containing(text)}`);
  return found.map(({ resource }) => resource);
}

async function namesWhere(
  db: ReadModels,
  kinds: readonly string[],
  condition: (kind: string) => RawBuilder<unknown>,
): Promise<readonly { readonly resource: string; readonly name: string }[]> {
  const parts = kinds.map(
    (kind) => sql`(SELECT ${sql.lit(`${kind}-`)} || id AS resource, name
      FROM (${named[kind]}) named WHERE ${condition(kind)} LIMIT ${sql.lit(maxFound)})`,
  );
  const { rows } = await sql<{ resource: string; name: string }>`
    ${sql.join(parts, sql` UNION ALL `)}`.execute(db);
  return rows;
}
