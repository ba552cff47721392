import { sql, type RawBuilder } from 'kysely';
import type { ReadModels } from '../projection.ts';
import { auditValues, hasAnyOf, valuesWith } from './search.ts';
import { spanSize, type AuditOutcome, type AuditTable } from './table.ts';

export interface AuditFilter {
  /** Returns only entries of these groups. `null` means all entries, including entries that belong to no group. */
  readonly groupIds: readonly string[] | null;
  readonly actor?: string | undefined;
  /** Returns only entries caused by users, with or without an API token. */
  readonly people?: boolean | undefined;
  readonly action?: string | undefined;
  /** Text that must occur in the actor, in the action written as words, or in the resource name. Case is ignored. */
  readonly text?: string | undefined;
  readonly resource?: string | undefined;
  readonly outcome?: AuditOutcome | undefined;
  /** Returns only entries recorded at or after this time and before `to`. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** The first and last position of the events, inclusive. */
  readonly fromPosition?: number | undefined;
  readonly toPosition?: number | undefined;
}

export interface AuditPage {
  readonly order: 'asc' | 'desc';
  /** Number of the last entry on the previous page. */
  readonly after: number | undefined;
  readonly limit: number;
}

/** Lists entries ordered by number. The cost of a page does not grow with the length of the trail. Each filter has
 *  an index in this order, and one page per group is read. Times and positions are converted to ranges of numbers. */
export async function listAudit(
  db: ReadModels,
  filter: AuditFilter,
  { order, after, limit }: AuditPage,
): Promise<readonly AuditTable[]> {
  const spans = await spansOf(db, filter);
  if (spans === 'nowhere') return [];
  const behind = after === undefined ? [] : [isBehind(order, after)];
  const between =
    spans === 'everywhere'
      ? []
      : [sql`audit_seq BETWEEN ${sql.lit(spans.lowest)} AND ${sql.lit(spans.highest)}`];
  const found = filter.text === undefined ? [] : [hasAnyOf(await valuesWith(db, filter.text))];
  const where = sql.join([...behind, ...between, ...found, ...auditConditions(filter)], sql` AND `);
  const inOrder = sql`ORDER BY audit_seq ${sql.raw(order)} LIMIT ${sql.lit(limit)}`;
  const { groupIds } = filter;
  if (groupIds?.length === 0) return [];
  if (filter.people === true) return await listPeople(db, groupIds, where, inOrder);
  const listed =
    groupIds === null
      ? sql`${where} ${inOrder}`
      : sql`audit_seq = ANY(ARRAY(SELECT audit_seq FROM (${sql.join(
          groupIds.map(
            (id) => sql`(SELECT audit_seq FROM audit
              WHERE group_id = ${id}::uuid AND ${where} ${inOrder})`,
          ),
          sql` UNION ALL `,
        )}) own ${inOrder})) ${inOrder}`;
  const { rows } = await sql<AuditTable>`SELECT * FROM audit WHERE ${listed}`.execute(db);
  return rows;
}

/** Reads one page for each user and API token and merges the pages. There are few users and tokens, and an index
 *  contains their entries in the order of the list. */
async function listPeople(
  db: ReadModels,
  groupIds: AuditFilter['groupIds'],
  where: RawBuilder<unknown>,
  inOrder: RawBuilder<unknown>,
): Promise<readonly AuditTable[]> {
  const visible = groupIds === null ? sql`true` : sql`group_id = ANY(${groupIds}::uuid[])`;
  // The actor name of a user is an email address. Apart from webhooks, no other actor has a name with an @.
  const isPerson = (actor: string) => actor.includes('@') && !actor.startsWith('webhook ');
  const people = (await auditValues(db, 'actor', null)).filter(isPerson);
  const { rows } = await sql<AuditTable>`
    SELECT * FROM audit WHERE audit_seq = ANY(ARRAY(
      SELECT own.audit_seq FROM unnest(${people}::text[]) person CROSS JOIN LATERAL (
        SELECT audit_seq FROM audit WHERE actor = person AND ${visible} AND ${where} ${inOrder}
      ) own ${inOrder}
    )) ${inOrder}`.execute(db);
  return rows;
}

function isBehind(order: AuditPage['order'], after: number): RawBuilder<unknown> {
  return order === 'asc' ? sql`audit_seq > ${after}` : sql`audit_seq < ${after}`;
}

/** Returns the conditions for an entry, except the condition on the group. */
export function auditConditions(filter: AuditFilter): readonly RawBuilder<unknown>[] {
  const { actor, action, resource, outcome, from, to, fromPosition, toPosition } = filter;
  const each = [
    actor !== undefined && sql`actor = ${actor}`,
    action !== undefined && sql`action = ${action}`,
    resource !== undefined && sql`resource = ${resource}`,
    // The value is inlined into the SQL text, so that the planner can use the partial index on entries that were not
    // accepted.
    outcome !== undefined && sql`outcome = ${sql.lit(outcome)}`,
    from && sql`time >= ${from}`,
    to && sql`time < ${to}`,
    fromPosition !== undefined && sql`event_position >= ${fromPosition}`,
    toPosition !== undefined && sql`event_position <= ${toPosition}`,
  ].filter((one) => typeof one === 'object');
  return each.length === 0 ? [sql`true`] : each;
}

/** Converts times and positions to ranges of entry numbers. Both ends are inclusive. */
export async function spansOf(
  db: ReadModels,
  { from, to, fromPosition, toPosition }: Omit<AuditFilter, 'groupIds'>,
): Promise<{ readonly lowest: number; readonly highest: number } | 'everywhere' | 'nowhere'> {
  const bounds = [from, to, fromPosition, toPosition];
  if (bounds.every((bound) => bound === undefined)) return 'everywhere';
  const { rows } = await sql<{ first: number | null; last: number }>`
    SELECT min(span) AS first, max(span) AS last FROM audit_spans
    WHERE last_time >= coalesce(${from ?? null}::timestamptz, '-infinity')
      AND first_time < coalesce(${to ?? null}::timestamptz, 'infinity')
      AND last_position >= coalesce(${fromPosition ?? null}::bigint, 0)
      AND first_position <= coalesce(${toPosition ?? null}::bigint, first_position)`.execute(db);
  const [{ first, last } = { first: null, last: 0 }] = rows;
  if (first === null) return 'nowhere';
  return { lowest: first * spanSize + 1, highest: (last + 1) * spanSize };
}

/** Returns at most `limit` entries that any of these streams caused directly, in the order of the trail. */
export async function causedBy(
  db: ReadModels,
  causes: readonly string[],
  limit: number,
): Promise<readonly AuditTable[]> {
  return await db
    .selectFrom('audit')
    .selectAll()
    .where(sql<boolean>`caused_by = ANY(${causes}::text[])`)
    .orderBy('audit_seq')
    .limit(limit)
    .execute();
}
