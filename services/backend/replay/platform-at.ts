/** The state of the whole platform as of a point in time, derived only from the history (docs/audit.md). */
import type { Principal } from '#domain/kernel/actor.ts';
import type { StreamId } from '#domain/kernel/event.ts';
import { mustParse, parseGroupId } from '#domain/kernel/ids.ts';
import { canSeeGroup } from '#domain/kernel/rights.ts';
import { systemAggregate } from '#domain/system/decide.ts';
import { activeRunsAt } from '#infra/postgres/event-store/active-runs-at.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { stateAt, streamsUntil } from '#infra/postgres/event-store/states-at.ts';
import { streamsAt, versionsAt, type Moment } from '#infra/postgres/event-store/streams-at.ts';
import {
  chainsAt,
  groupsAt,
  idOf,
  runsAt,
  schedulesAt,
  scriptsAt,
  usersAt,
  webhooksAt,
  type ReadAt,
  type Replayed,
} from './resources.ts';

interface Kind {
  /** The prefix of the stream IDs. */
  readonly type: string;
  readonly read: ReadAt;
}

/** The kinds of resources in the replay. Differences are listed in this order. */
export const replayKinds = {
  groups: { type: 'group', read: groupsAt },
  users: { type: 'user', read: usersAt },
  scripts: { type: 'script', read: scriptsAt },
  schedules: { type: 'schedule', read: schedulesAt },
  webhooks: { type: 'webhook', read: webhooksAt },
  chains: { type: 'chain', read: chainsAt },
  runs: { type: 'run', read: runsAt },
} as const satisfies Record<string, Kind>;

export type ReplayKind = keyof typeof replayKinds;

/** The maximum number of batches that are read for one page. Several may be needed, because a batch may contain
 *  deleted resources and resources that the caller cannot see. */
const maxRounds = 4;

interface ReplayPage<Item> {
  readonly items: readonly Item[];
  /** The ID after which the next page starts; null for the last page. */
  readonly next: string | null;
}

export interface Stretch {
  readonly moment: Moment;
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface LookBack extends Stretch {
  readonly principal: Principal;
}

/** Renders the resources that the caller can see. */
type Show<Item> = (
  found: ReadonlyMap<StreamId, Replayed>,
) => Promise<ReadonlyMap<StreamId, Item>> | ReadonlyMap<StreamId, Item>;

/** A page of resources of one kind, sorted by ID. Pages of runs contain only runs that were queued or running. */
export async function replayPage(
  db: Queryable,
  kind: ReplayKind,
  { principal, ...stretch }: LookBack,
): Promise<ReplayPage<Replayed['item']>> {
  return await pageAt(db, kind, stretch, (found) => {
    const shown = [...found].flatMap(([streamId, one]) => {
      const item = shownTo(principal, one);
      return item === null ? [] : [[streamId, item] as const];
    });
    return new Map(shown);
  });
}

/** A page of resources of one kind, sorted by ID. */
export async function pageAt<Item>(
  db: Queryable,
  kind: ReplayKind,
  { moment, after, limit }: Stretch,
  show: Show<Item>,
): Promise<ReplayPage<Item>> {
  const { type, read } = replayKinds[kind];
  const items: Item[] = [];
  let place = after;
  for (let round = 0; round < maxRounds; round += 1) {
    const page = { after: place, limit };
    const ids =
      kind === 'runs'
        ? await activeRunsAt(db, moment, page)
        : await streamsAt(db, type, moment, page);
    const shown = await show(await readAt(db, read, ids, moment));
    for (const streamId of ids) {
      place = idOf(streamId);
      const item = shown.get(streamId);
      if (item !== undefined) items.push(item);
      const isLast = streamId === ids.at(-1) && ids.length < limit;
      if (items.length === limit) return { items, next: isLast ? null : place };
    }
    if (ids.length < limit) return { items, next: null };
  }
  return { items, next: place ?? null };
}

/** A single resource as of the requested time; `undefined` if it did not exist, or if the caller cannot see it. */
export async function oneAt<Item>(
  db: Queryable,
  kind: ReplayKind,
  { id, moment }: { readonly id: string; readonly moment: Moment },
  show: Show<Item>,
): Promise<Item | undefined> {
  const { type, read } = replayKinds[kind];
  const streamId: StreamId = `${type}-${id}`;
  return (await show(await readAt(db, read, [streamId], moment))).get(streamId);
}

async function readAt(
  db: Queryable,
  read: ReadAt,
  ids: readonly StreamId[],
  moment: Moment,
): Promise<ReadonlyMap<StreamId, Replayed>> {
  const streams = await streamsUntil(db, ids, moment);
  return await read(
    db,
    streams.filter(({ until }) => until > 0),
    moment,
  );
}

/** The part of a resource that the caller may see. An account lists only the groups that it shares with the caller. */
function shownTo(principal: Principal, one: Replayed | undefined): Replayed['item'] | null {
  if (one === undefined) return null;
  const { groupIds, item } = one;
  if (principal.role === 'administrator') return item;
  const isVisible = (id: string) => canSeeGroup(principal, mustParse(parseGroupId, id));
  if (groupIds !== 'every' && !groupIds.some(isVisible)) return null;
  const { group_ids: all } = item;
  return Array.isArray(all) ? { ...item, group_ids: all.filter(isVisible) } : item;
}

/** Whether triggers were paused at the requested time. */
export async function wasPaused(db: Queryable, moment: Moment): Promise<boolean> {
  return (await stateAt(db, systemAggregate, 'system-triggers', moment)).paused;
}

export const comparedKinds = [
  'groups',
  'users',
  'scripts',
  'schedules',
  'webhooks',
  'chains',
] as const satisfies readonly ReplayKind[];
type ComparedKind = (typeof comparedKinds)[number];

export interface Difference {
  readonly kind: string;
  readonly id: string;
  readonly change: 'created' | 'changed' | 'deleted';
  /** The resource at the first time; null if it did not exist. */
  readonly before: Replayed['item'] | null;
  readonly after: Replayed['item'] | null;
  /** Names of the fields that differ. Empty if the resource did not exist at one of the times. */
  readonly fields: readonly string[];
}

/** Where a page of differences starts: after the resource of this kind with this ID. */
export interface DifferencePlace {
  readonly kind: ComparedKind;
  readonly id: string | undefined;
}

/** The differences between two points in time, by kind. A page may have few or no differences although more pages
 *  follow. */
export async function replayDifferences(
  db: Queryable,
  principal: Principal,
  [from, to]: readonly [Moment, Moment],
  { after: behind, limit }: { readonly after: DifferencePlace | undefined; readonly limit: number },
): Promise<{ readonly items: readonly Difference[]; readonly next: DifferencePlace | null }> {
  const items: Difference[] = [];
  let place: DifferencePlace | null = behind ?? { kind: 'groups', id: undefined };
  for (let round = 0; round < comparedKinds.length + maxRounds && place !== null; round += 1) {
    const { kind, id }: DifferencePlace = place;
    const { type, read } = replayKinds[kind];
    const most = limit - items.length;
    if (most === 0) break;
    const ids = await streamsAt(db, type, to, { after: id, limit: most });
    const touched = await touchedBetween(db, ids, from, to);
    const [before, after] = await Promise.all([
      readAt(db, read, touched, from),
      readAt(db, read, touched, to),
    ]);
    for (const streamId of touched) {
      const pair = [before.get(streamId), after.get(streamId)] as const;
      const difference = differenceOf(kind, streamId, pair, principal);
      if (difference !== undefined) items.push(difference);
    }
    place = nextPlace(kind, ids, most);
  }
  return { items, next: place };
}

function nextPlace(
  kind: ComparedKind,
  ids: readonly StreamId[],
  limit: number,
): DifferencePlace | null {
  const last = ids.at(-1);
  if (ids.length === limit && last !== undefined) return { kind, id: idOf(last) };
  const next = comparedKinds[comparedKinds.indexOf(kind) + 1];
  return next === undefined ? null : { kind: next, id: undefined };
}

async function touchedBetween(
  db: Queryable,
  ids: readonly StreamId[],
  from: Moment,
  to: Moment,
): Promise<readonly StreamId[]> {
  const [before, behind] = await Promise.all([versionsAt(db, ids, from), versionsAt(db, ids, to)]);
  return ids.filter((id) => before.get(id) !== behind.get(id));
}

function differenceOf(
  kind: ComparedKind,
  streamId: StreamId,
  [one, other]: readonly [Replayed | undefined, Replayed | undefined],
  principal: Principal,
): Difference | undefined {
  const [before, after] = [shownTo(principal, one), shownTo(principal, other)];
  if (before === after) return undefined; // The resource existed at neither time.
  const named = { kind: kind.slice(0, -1), id: idOf(streamId), before, after };
  if (before === null || after === null) {
    const change = before === null ? 'created' : 'deleted';
    return { ...named, change, fields: [] };
  }
  const fields = Object.keys(after).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  return fields.length === 0 ? undefined : { ...named, change: 'changed', fields };
}
