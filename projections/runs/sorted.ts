/** Lists runs in an order other than newest first. */
import { parseRunId, type RunId } from '#domain/kernel/ids.ts';
import { runStatuses } from '#domain/run/run.ts';
import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';
import type { RunListFilter } from './list-filter.ts';
import { readRuns } from './lists.ts';
import { listed, type Columns, type ListedRun } from './pages.ts';

/** The maximum number of runs to sort. Only the newest matching runs are sorted, so the cost of a page does not grow
 *  with the history. */
export const sortedAtMost = 10_000;

export const runOrders = [
  'started',
  '-started',
  'duration',
  '-duration',
  'status',
  '-status',
  'script',
  '-script',
] as const;
/** A column in ascending order, or in descending order with the prefix `-`. Runs without a value are last. Runs with
 *  equal values are ordered newest first. */
export type RunOrder = (typeof runOrders)[number];

/** A position in a sorted list of runs. */
export interface SortedPlace {
  /** The newest run of the list. Runs that were queued later are excluded. */
  readonly newest: RunId;
  readonly id: RunId;
  readonly value: Value;
}

type Value = string | number | null;
type Keys = Pick<
  ListedRun,
  'run_id' | 'script_id' | 'script_name' | 'status' | 'started_at' | 'duration_ms'
>;
const keys: Columns<Keys> = sql`run_id, script_id, script_name, status, started_at, duration_ms`;

const valueOf: Readonly<Record<string, (run: Keys) => Value>> = {
  started: (run) => run.started_at?.getTime() ?? null,
  duration: (run) => run.duration_ms,
  status: (run) => runStatuses.indexOf(run.status),
  script: (run) => run.script_name.toLowerCase(),
};

/** Reads one page of a sorted list.
 *  @param after the position of the last run on the previous page
 *  @returns the runs. If more runs follow, also the position of the last run. */
export async function listSortedRuns(
  db: ReadModels,
  filter: RunListFilter,
  order: RunOrder,
  { after, limit }: { readonly after: SortedPlace | undefined; readonly limit: number },
): Promise<{ readonly rows: readonly ListedRun[]; readonly next: SortedPlace | null }> {
  const near = await readRuns(db, filter, {
    after: after && nextId(after.newest),
    limit: sortedAtMost,
    columns: keys,
  });
  const newest = near[0]?.run_id as RunId;
  const read = valueOf[order.replace('-', '')] ?? (() => null);
  const compare = comparison(order.startsWith('-') ? -1 : 1);
  const page = near
    .map((run): SortedPlace => ({ newest, id: run.run_id as RunId, value: read(run) }))
    .filter((place) => after === undefined || compare(place, after) > 0)
    .toSorted(compare)
    .slice(0, limit + 1);
  const shown = page.slice(0, limit);
  return {
    rows: await runsInOrder(db, shown),
    next: (page.length > limit ? shown.at(-1) : undefined) ?? null,
  };
}

/** Parses the position in a cursor. */
export function parseSortedPlace(text: string): SortedPlace | undefined {
  const [, newest = '', id = '', kind, value = ''] = /^(\S+) (\S+) ([#=-])(.*)$/s.exec(text) ?? [];
  const [first, last] = [parseRunId(newest), parseRunId(id)];
  if (first === undefined || last === undefined) return undefined;
  return {
    newest: first,
    id: last,
    value: kind === '-' ? null : kind === '#' ? Number(value) : value,
  };
}

export function sortedPlaceText({ newest, id, value }: SortedPlace): string {
  const kind = value === null ? '-' : typeof value === 'number' ? '#' : '=';
  return `${newest} ${id} ${kind}${value ?? ''}`;
}

/** @param sign 1 for ascending order, -1 for descending order */
function comparison(sign: 1 | -1) {
  return (one: SortedPlace, other: SortedPlace): number => {
    if (one.value === other.value) return one.id < other.id ? 1 : -1;
    if (one.value === null) return 1;
    if (other.value === null) return -1;
    return one.value < other.value ? -sign : sign;
  };
}

async function runsInOrder(
  db: ReadModels,
  places: readonly SortedPlace[],
): Promise<readonly ListedRun[]> {
  const ids = places.map((place) => place.id);
  const { rows } = await sql<ListedRun>`
    SELECT ${listed} FROM runs WHERE run_id = ANY(${ids}::uuid[])`.execute(db);
  const byId = new Map<string, ListedRun>(rows.map((run) => [run.run_id, run]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Returns the next higher ID, because the end of a page is exclusive. */
function nextId(id: RunId): RunId {
  const digits = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0');
  return digits.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5') as RunId;
}
