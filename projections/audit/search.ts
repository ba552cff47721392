/** Finds audit entries by parts of actors, actions and names of resources. */
import { sql, type RawBuilder } from 'kysely';
import type { ReadModels } from '../projection.ts';
import { resourceKinds, resourcesNamed } from './names.ts';

/** The values of a column, without reading every entry: one lookup in the index per value.
 *  @param groupIds only values of entries of these groups; `null` for all */
export async function auditValues(
  db: ReadModels,
  column: 'actor' | 'action',
  groupIds: readonly string[] | null,
): Promise<readonly string[]> {
  const name = sql.ref(column);
  const visible =
    groupIds === null
      ? sql`true`
      : sql`EXISTS (SELECT FROM audit WHERE ${name} = value AND group_id = ANY(${groupIds}::uuid[]))`;
  const { rows } = await sql<{ value: string }>`
    WITH RECURSIVE known AS (
      (SELECT ${name} AS value FROM audit ORDER BY ${name} LIMIT 1)
      UNION ALL
      SELECT (SELECT ${name} FROM audit WHERE ${name} > known.value ORDER BY ${name} LIMIT 1)
      FROM known WHERE known.value IS NOT NULL
    )
    SELECT value FROM known WHERE value IS NOT NULL AND ${visible}`.execute(db);
  return rows.map(({ value }) => value);
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The values that match a text. An entry matches if it has any of them. */
interface ValuesWithText {
  readonly actors: readonly string[];
  readonly actions: readonly string[];
  readonly resources: readonly string[];
}

/** The actors, actions in words and resources whose current name contains a text, ignoring case; or the resources with
 *  this ID. */
export async function valuesWith(db: ReadModels, text: string): Promise<ValuesWithText> {
  const wanted = text.trim().toLowerCase();
  const contains = (value: string) => value.toLowerCase().replaceAll('_', ' ').includes(wanted);
  const [actors, actions, named] = await Promise.all([
    auditValues(db, 'actor', null),
    auditValues(db, 'action', null),
    resourcesNamed(db, wanted),
  ]);
  const resources = uuid.test(wanted) ? resourceKinds.map((kind) => `${kind}-${wanted}`) : named;
  return { actors: actors.filter(contains), actions: actions.filter(contains), resources };
}

/** The condition that an entry has one of the values. */
export function hasAnyOf({ actors, actions, resources }: ValuesWithText): RawBuilder<unknown> {
  return sql`(actor = ANY(${actors}::text[]) OR action = ANY(${actions}::text[])
    OR resource = ANY(${resources}::text[]))`;
}
