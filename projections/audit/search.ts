/** Searches audit entries by parts of actors, actions and resource names. */
import { sql, type RawBuilder } from 'kysely';
import type { ReadModels } from '../projection.ts';
import { resourceKinds, resourcesNamed } from './names.ts';

/** Returns the distinct values of a column. Each value takes one index lookup, so not every entry is read.
 *  @param groupIds returns only values from entries of these groups. `null` means all groups. */
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

/** The values that match a search text. An entry matches if it has at least one of these values. */
interface ValuesWithText {
  readonly actors: readonly string[];
  readonly actions: readonly string[];
  readonly resources: readonly string[];
}

/** Returns the actors, actions and resources that match a text, ignoring case. Actions are matched as words, and
 *  resources by their current name. A resource ID as the text matches only resources with that ID. */
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

/** Returns the condition that an entry has at least one of the values. */
export function hasAnyOf({ actors, actions, resources }: ValuesWithText): RawBuilder<unknown> {
  return sql`(actor = ANY(${actors}::text[]) OR action = ANY(${actions}::text[])
    OR resource = ANY(${resources}::text[]))`;
}
