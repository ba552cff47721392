/** Reads statistics of the last day, and time series. */
import type { GroupId } from '#domain/kernel/ids.ts';
import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';
import { beginOf, levelFor, spansSince, type BucketLength, type Span } from './buckets.ts';
import { noFigures, together, type Figures } from './tally.ts';
import { everywhere, type RunFiguresTable } from './table.ts';

/** The groups to include. `null` means all groups. */
type Groups = readonly GroupId[] | null;

const dayMs = 24 * 60 * 60 * 1000;

/** Returns statistics of the runs that ended in the 24 hours before `now`. The period starts at a whole minute. */
export async function figuresOfDay(db: ReadModels, groups: Groups, now: Date): Promise<Figures> {
  const spans = spansSince(new Date(now.getTime() - dayMs), now);
  return (await rowsOf(db, groups, spans)).reduce<Figures>(together, noFigures);
}

/** Returns statistics from `from` (inclusive) to `to` (exclusive) in buckets of the given length, including empty
 *  buckets. Buckets begin at whole multiples of the length. */
export async function figuresByTime(
  db: ReadModels,
  groups: Groups,
  { from, to, length }: { readonly from: Date; readonly to: Date; readonly length: BucketLength },
): Promise<readonly (readonly [Date, Figures])[]> {
  const first = beginOf(from, length);
  const buckets = new Map<number, Figures>();
  for (let at = first.getTime(); at < to.getTime(); at += length * 1000) buckets.set(at, noFigures);
  const end = new Date(first.getTime() + buckets.size * length * 1000);
  for (const row of await rowsOf(db, groups, [{ level: levelFor(length), from: first, to: end }])) {
    const at = beginOf(row.begins_at, length).getTime();
    buckets.set(at, together(buckets.get(at) ?? noFigures, row));
  }
  return [...buckets].map(([at, figures]) => [new Date(at), figures]);
}

async function rowsOf(
  db: ReadModels,
  groups: Groups,
  spans: readonly Span[],
): Promise<readonly RunFiguresTable[]> {
  const parts = spans.map(
    ({ level, from, to }) => sql`
      SELECT * FROM run_figures WHERE level_seconds = ${level}
        AND group_id = ANY(${groups ?? [everywhere]}::uuid[])
        AND begins_at >= ${from} AND begins_at < ${to}`,
  );
  return (await sql<RunFiguresTable>`${sql.join(parts, sql` UNION ALL `)}`.execute(db)).rows;
}

/** Returns the number of waiting runs and the number of running runs. */
export async function activeNow(
  db: ReadModels,
  groups: Groups,
): Promise<{ readonly queued: number; readonly running: number }> {
  let query = db
    .selectFrom('figure_runs')
    .select([
      sql<number>`count(*) FILTER (WHERE started_at IS NULL)`.as('queued'),
      sql<number>`count(started_at)`.as('running'),
    ]);
  if (groups !== null) query = query.where(sql<boolean>`group_id = ANY(${groups}::uuid[])`);
  return await query.executeTakeFirstOrThrow();
}
