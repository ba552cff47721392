/** Replays the state of the whole platform. */
import { parseGroupId } from '#domain/kernel/ids.ts';
import type { Moment } from '#infra/postgres/event-store/streams-at.ts';
import { operation, type Operation } from '../http/operation.ts';
import { defaultLimit, keyOf, pageOf, type ListRequest, onePage } from '../http/paging.ts';
import { atParameter, momentOf } from '../http/point-in-time.ts';
import { isProblem, problem, type Problem } from '../http/problem.ts';
import { json, type Reply } from '../http/reply.ts';
import { Exact, pageQuery } from '../http/schema.ts';
import type { Services } from '../services.ts';
import {
  comparedKinds,
  replayDifferences,
  replayKinds,
  replayPage,
  wasPaused,
  type DifferencePlace,
  type ReplayKind,
} from './platform-at.ts';
import { Replay, ReplayDifferences, replayPages } from './schema.ts';

const tag = 'Audit';
const access = { right: 'audit.read' } as const;
const kinds = Object.keys(replayKinds) as ReplayKind[];
const aboutGroups =
  'The state is computed from the event history. Administrators see everything. Other users with ' +
  'the audit right see resources that belonged to their groups at that time. Without `at`, shows ' +
  'the current state.';

/** A point in time, together with its text in the request. */
interface Asked {
  readonly at: string;
  readonly moment: Moment;
}

async function askedFor(at: string | undefined, services: Services): Promise<Asked | Problem> {
  const text = at ?? services.clock.now().toISOString();
  const moment = await momentOf(text, services);
  return isProblem(moment) ? moment : { at: text, moment };
}

const listName = (kind: ReplayKind): string => `replay-${kind}`;

const overview = operation({
  method: 'get',
  path: '/api/v1/replay',
  operationId: 'replay',
  summary: 'Read the state of the platform at a point in time',
  description: aboutGroups,
  tag,
  access,
  query: Exact({ at: atParameter, limit: pageQuery.limit }),
  responses: { 200: { description: 'The state at that time.', schema: Replay } },
  handle: async ({ principal, query }, services) => {
    const asked = await askedFor(query.at, services);
    if (isProblem(asked)) return asked;
    const { database } = services;
    const { at, moment } = asked;
    const { limit = defaultLimit } = query;
    const pages = await Promise.all(
      kinds.map(async (kind) => {
        const { items, next } = await replayPage(database, kind, { principal, moment, limit });
        const url = `/api/v1/replay/${kind}?at=${encodeURIComponent(at)}`;
        const request = { list: listName(kind), filter: at, url, limit, cursor: undefined };
        return [kind, bodyOf(pageOf(request, items, next))] as const;
      }),
    );
    const paused = await wasPaused(database, moment);
    return json(200, { at, paused, ...Object.fromEntries(pages) });
  },
});

function bodyOf({ body }: Reply): object {
  return body.kind === 'json' ? (body.value as object) : {};
}

const lists = kinds.map((kind) =>
  operation({
    method: 'get',
    path: `/api/v1/replay/${kind}`,
    operationId: `replay${kind[0]?.toUpperCase()}${kind.slice(1)}`,
    summary:
      kind === 'runs'
        ? 'List the runs that were queued or running at a point in time, by ID'
        : `List the ${kind} that existed at a point in time, by ID`,
    description: `${aboutGroups} A page may be short or empty even if more pages follow.`,
    tag,
    access,
    query: Exact({ ...pageQuery, at: atParameter }),
    responses: onePage(replayPages[kind]),
    handle: async ({ principal, query, url }, services) => {
      const asked = await askedFor(query.at, services);
      if (isProblem(asked)) return asked;
      const { limit = defaultLimit, cursor } = query;
      const request = { list: listName(kind), filter: asked.at, url, limit, cursor };
      const after = keyOf(request, parseId);
      if (isProblem(after)) return after;
      const look = { principal, moment: asked.moment, after: after.key, limit };
      const { items, next } = await replayPage(services.database, kind, look);
      return pageOf(request, items, next);
    },
  }),
);

/** The IDs of all kinds have the same format, so any ID parser works. */
function parseId(text: string): string | undefined {
  return parseGroupId(text);
}

const differences = operation({
  method: 'get',
  path: '/api/v1/replay/diff',
  operationId: 'replayDifferences',
  summary: 'List the differences between two points in time',
  description:
    `${aboutGroups} Compares groups, users, scripts, schedules, webhooks and chains. ` +
    '`/scripts/{id}/diff` shows changes to files. Without `from`, compares with an empty platform.',
  tag,
  access,
  query: Exact({ ...pageQuery, from: atParameter, to: atParameter }),
  responses: onePage(ReplayDifferences),
  handle: async ({ principal, query, url }, services) => {
    const from = await askedFor(query.from ?? '0', services);
    if (isProblem(from)) return from;
    const to = await askedFor(query.to, services);
    if (isProblem(to)) return to;
    if (isLater(from.moment, to.moment)) return backwards;
    const { limit = defaultLimit, cursor } = query;
    const request: ListRequest = {
      list: 'replay-diff',
      filter: [from.at, query.to ?? null],
      url,
      limit,
      cursor,
    };
    const after = keyOf(request, parseDifferencePlace);
    if (isProblem(after)) return after;
    const range = [from.moment, to.moment] as const;
    const page = { after: after.key, limit };
    const { items, next } = await replayDifferences(services.database, principal, range, page);
    const reply = pageOf(request, items, next && `${next.kind} ${next.id ?? ''}`);
    return json(200, { from: from.at, to: to.at, ...bodyOf(reply) }, reply.headers);
  },
});

const backwards = problem('invalid_parameter', 'The parameter "from" must not be later than "to".');

/** Whether `one` is later than `other`. A time and a position are not comparable, so the result is then false. */
function isLater(one: Moment, other: Moment): boolean {
  if (one.kind === 'time') return other.kind === 'time' && one.time > other.time;
  return other.kind === 'position' && one.position > other.position;
}

function parseDifferencePlace(text: string): DifferencePlace | undefined {
  const [name, id = ''] = text.split(' ');
  const kind = comparedKinds.find((one) => one === name);
  if (kind === undefined) return undefined;
  if (id === '') return { kind, id: undefined };
  const parsed = parseGroupId(id);
  return parsed && { kind, id: parsed };
}

export const replayOperations: readonly Operation[] = [overview, ...lists, differences];
