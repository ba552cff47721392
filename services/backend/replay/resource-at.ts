/** Schedules, webhooks, chains, groups and accounts as of a point in time, in the format of the current resource. Only
 *  users who can currently see a resource can see its history. */
import type { Principal } from '#domain/kernel/actor.ts';
import type { StreamId } from '#domain/kernel/event.ts';
import { parseGroupId } from '#domain/kernel/ids.ts';
import { lastEventsOf, type Moment } from '#infra/postgres/event-store/streams-at.ts';
import { actorName } from '#projections/actors.ts';
import { readParams } from '#infra/postgres/operations/params.ts';
import { isIn } from '../access/visibility.ts';
import { defaultLimit, keyOf, pageOf } from '../http/paging.ts';
import { aboutCurrentGroups, momentOf } from '../http/point-in-time.ts';
import { isProblem, problem, type Problem } from '../http/problem.ts';
import { json, type Reply } from '../http/reply.ts';
import type { Services } from '../services.ts';
import { oneAt, pageAt } from './platform-at.ts';
import { currentGroups, type Replayed } from './resources.ts';

type PastKind = 'schedules' | 'webhooks' | 'chains' | 'groups' | 'users';
type Thing = Readonly<Record<string, unknown>>;

/** Text in the description of each list that supports `?at=`. */
export const aboutPastLists =
  'With `at`, the list shows the state at that time, sorted by ID. A page may be short or empty although ' +
  'more pages follow. ' +
  aboutCurrentGroups;

export interface PastList {
  readonly principal: Principal;
  readonly at: string;
  readonly url: string;
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
  /** The values to filter by. An absent field matches any value. */
  readonly filter?: Readonly<Record<string, string | undefined>>;
}

/** A page of resources as of `at`. */
export async function listAt(
  kind: PastKind,
  { principal, at, url, limit = defaultLimit, cursor, filter = {} }: PastList,
  services: Services,
): Promise<Reply | Problem> {
  const moment = await momentOf(at, services);
  if (isProblem(moment)) return moment;
  const request = { list: `past-${kind}`, filter: { at, ...filter }, url, limit, cursor };
  // The IDs of all kinds have the same format, so any ID parser works.
  const after = keyOf(request, parseGroupId);
  if (isProblem(after)) return after;
  const stretch = { moment, after: after.key, limit };
  const wanted = Object.entries(filter).filter(([, value]) => value !== undefined);
  const { items, next } = await pageAt(services.database, kind, stretch, async (found) => {
    const fitting = [...found].filter(([, { item }]) =>
      wanted.every(([name, value]) => item[name] === value),
    );
    return await shown(kind, { principal, moment, found: new Map(fitting) }, services);
  });
  return pageOf(request, items, next);
}

/** Responds with a resource as of a point in time, or with a problem if it did not exist at that time or the caller
 *  cannot see it. */
export async function replyAt(
  kind: PastKind,
  {
    principal,
    at,
    id,
  }: { readonly principal: Principal; readonly at: string; readonly id: string },
  services: Services,
): Promise<Reply | Problem> {
  const moment = await momentOf(at, services);
  if (isProblem(moment)) return moment;
  const thing = await oneAt(services.database, kind, { id, moment }, (found) =>
    shown(kind, { principal, moment, found }, services),
  );
  return thing === undefined
    ? problem('not_found', 'The resource did not exist at that time.')
    : json(200, thing);
}

interface Found {
  readonly principal: Principal;
  readonly moment: Moment;
  readonly found: ReadonlyMap<StreamId, Replayed>;
}

async function shown(
  kind: PastKind,
  { principal, moment, found }: Found,
  { database }: Services,
): Promise<ReadonlyMap<StreamId, Thing>> {
  const visible = await visibleNow(principal, found, database);
  const [params, changes] = await Promise.all([
    readParams(
      database,
      visible.map(([, { related }]) => related?.paramsSha256 ?? null),
    ),
    lastEventsOf(
      database,
      visible.map(([streamId]) => streamId),
      changesOf[kind],
      moment,
    ),
  ]);
  const things = visible.map(([streamId, { item, related }]) => {
    const change = changes.get(streamId);
    const updated = change && {
      updated_at: change.recordedAt,
      updated_by: actorName(change.metadata.actor),
    };
    const thing = {
      ...item,
      ...related?.shown,
      ...namesOf(kind, item, related?.scripts),
      ...updated,
      ...('paramsSha256' in (related ?? {}) && {
        params: params.get(related?.paramsSha256 ?? null) ?? null,
      }),
      ...fieldsUnknownAt[kind],
    };
    return [streamId, thing] as const;
  });
  return new Map(things);
}

/** The names of the resource's scripts, if the API shows them. */
function namesOf(
  kind: PastKind,
  item: Replayed['item'],
  scripts: ReadonlyMap<unknown, string | undefined> = new Map(),
): Thing {
  if (kind === 'schedules') return { script_name: scripts.get(item['script_id']) };
  if (kind !== 'chains') return {};
  const { source_script_id: source, target_script_id: target } = item;
  return { source_script_name: scripts.get(source), target_script_name: scripts.get(target) };
}

/** Selects the resources whose scripts existed and are visible. Visibility depends on the scripts' current groups. */
async function visibleNow(
  principal: Principal,
  found: ReadonlyMap<StreamId, Replayed>,
  database: Services['database'],
): Promise<readonly (readonly [StreamId, Replayed])[]> {
  const whole = [...found].filter(([, { related }]) =>
    [...(related?.scripts?.values() ?? [])].every((name) => name !== undefined),
  );
  if (principal.role === 'administrator') return whole;
  const scriptIds = whole.flatMap(([, { related }]) => [...(related?.scripts?.keys() ?? [])]);
  const groups = await currentGroups(database, scriptIds);
  return whole.filter(([, { groupIds, related }]) => {
    const needed =
      related?.scripts === undefined
        ? groupIds
        : [...related.scripts.keys()].map((id) => groups.get(id));
    return needed !== 'every' && needed.every((id) => id !== undefined && isIn(principal, id));
  });
}

/** The event types that count as a change, for kinds whose view shows the time of the last change. */
const changesOf = {
  schedules: ['ScheduleCreated', 'ScheduleChanged'],
  chains: ['ChainCreated', 'ChainChanged'],
  webhooks: [],
  groups: [],
  users: [],
} as const satisfies Record<PastKind, readonly string[]>;

/** Overrides that convert a replayed resource to the current resource's format. `null` fills in fields that the
 *  history lacks. `undefined` removes fields that only the replay has. */
const fieldsUnknownAt = {
  schedules: { next_fire_at: null, last_fire_at: null },
  chains: {},
  webhooks: { last_called_at: null, created_by: undefined },
  groups: {},
  users: { last_login_at: null, rights: undefined },
} as const satisfies Record<PastKind, object>;
