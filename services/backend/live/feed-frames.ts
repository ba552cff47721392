/** The frames of `/ws`. Frames about runs and scripts contain the current state. Other frames only announce a
 *  change. */
import type { Principal } from '#domain/kernel/actor.ts';
import {
  mustParse,
  parseRunId,
  parseScriptId,
  type RunId,
  type ScriptId,
} from '#domain/kernel/ids.ts';
import { hasRightAnywhere, type Right } from '#domain/kernel/rights.ts';
import { findChainOwners } from '#projections/chains/queries.ts';
import { findNoticeOwners, type NoticeOwner } from '#projections/notices/queries.ts';
import { findRuns } from '#projections/runs/queries.ts';
import { findScheduleOwners } from '#projections/schedules/queries.ts';
import { findScriptGroups, findScripts, type OwnedByScript } from '#projections/scripts/queries.ts';
import { findWebhookOwners } from '#projections/webhooks/queries.ts';
import { isIn } from '../access/visibility.ts';
import { runsJson } from '../runs/view.ts';
import { scriptJson } from '../scripts/view.ts';
import type { Services } from '../services.ts';

export interface FeedFrame {
  /** Whether a reader may see the resource, and so receives the frame. */
  readonly isFor: (reader: Principal) => boolean;
  readonly frame: Buffer;
}

/** Stream prefixes whose frames contain the resource's state, with the required right. */
const shown = {
  'run-': { right: 'runs.read' },
  'script-': { right: 'scripts.list' },
} as const satisfies Record<string, { readonly right: Right }>;

/** Stream prefixes whose frames only name the changed resource, with the required right. */
const named = {
  'schedule-': { resource: 'schedule', right: 'schedules.read' },
  'webhook-': { resource: 'webhook', right: 'webhooks.manage' },
  'chain-': { resource: 'chain', right: 'chains.manage' },
  'secret-': { resource: 'secrets', right: 'secrets.manage' },
  'group_secret-': { resource: 'secrets', right: 'secrets.manage' },
  'notice-': { resource: 'notification', right: 'notifications.read' },
  'user-': { resource: 'user', right: 'users.manage' },
  'system-': { resource: 'system', right: 'system.read' },
} as const satisfies Record<string, { readonly resource: string; readonly right: Right }>;

type NamedPrefix = keyof typeof named;

const prefixes: readonly string[] = [...Object.keys(shown), ...Object.keys(named)];

/** Whether a user may subscribe to the feed. */
export function mayFollowAll(reader: Principal): boolean {
  return Object.values(shown).every(({ right }) => hasRightAnywhere(reader, right));
}

/** Whether changes to this stream are sent. */
export function isTold(streamId: string): boolean {
  return prefixes.some((prefix) => streamId.startsWith(prefix));
}

/** Creates the frames for the given streams, for all readers. Permanently deleted resources have no frame. */
export async function framesOf(
  streamIds: readonly string[],
  services: Services,
): Promise<ReadonlyMap<string, FeedFrame>> {
  const idsOf = (prefix: string) =>
    streamIds.filter((id) => id.startsWith(prefix)).map((id) => id.slice(prefix.length));
  const { readModels } = services;
  const frames = await Promise.all([
    runFrames(
      idsOf('run-').map((id) => mustParse(parseRunId, id)),
      services,
    ),
    scriptFrames(
      idsOf('script-').map((id) => mustParse(parseScriptId, id)),
      services,
    ),
    ownedFrames('schedule-', idsOf('schedule-'), (ids) => findScheduleOwners(readModels, ids)),
    ownedFrames('webhook-', idsOf('webhook-'), (ids) => findWebhookOwners(readModels, ids)),
    ownedFrames('notice-', idsOf('notice-'), (ids) => findNoticeOwners(readModels, ids)),
    chainFrames(idsOf('chain-'), services),
    ownedFrames('secret-', idsOf('secret-'), (ids) => ownersOfSecrets(ids, services)),
  ]);
  const ofGroups = idsOf('group_secret-').map((id) =>
    changed('group_secret-', { id, script_id: null }, [id]),
  );
  const ofAll = (['user-', 'system-'] as const).flatMap((prefix) =>
    idsOf(prefix).map((id) => changed(prefix, { id, script_id: null })),
  );
  return new Map([...frames.flat(), ...ofGroups, ...ofAll]);
}

type Entry = readonly [streamId: string, frame: FeedFrame];

async function runFrames(ids: readonly RunId[], services: Services): Promise<readonly Entry[]> {
  if (ids.length === 0) return [];
  const rows = await findRuns(services.readModels, ids);
  const bodies = await runsJson(rows, services);
  return rows.map((row, index) => [
    `run-${row.run_id}`,
    inGroup(row.group_id, { type: 'status', run: bodies[index] }),
  ]);
}

async function scriptFrames(
  ids: readonly ScriptId[],
  { readModels }: Services,
): Promise<readonly Entry[]> {
  if (ids.length === 0) return [];
  const [views, groups] = await Promise.all([
    findScripts(readModels, ids),
    findScriptGroups(readModels, ids),
  ]);
  const present = new Map(views.map((view) => [view.script_id, view]));
  return [...groups].map(([scriptId, groupId]) => {
    const view = present.get(scriptId);
    const body =
      view === undefined
        ? { type: 'script_deleted', script_id: scriptId }
        : { type: 'script', script: scriptJson(view) };
    return [
      `script-${scriptId}`,
      // Prefers the view's group, because the group may have changed between the two queries.
      inGroup(view?.group_id ?? groupId, body),
    ];
  });
}

async function ownedFrames(
  prefix: NamedPrefix,
  ids: readonly string[],
  find: (ids: readonly string[]) => Promise<readonly NoticeOwner[]>,
): Promise<readonly Entry[]> {
  if (ids.length === 0) return [];
  return (await find(ids)).map(({ id, script_id, group_id }) =>
    changed(prefix, { id, script_id }, [group_id]),
  );
}

/** A chain is visible to users who see both of its scripts. */
async function chainFrames(
  ids: readonly string[],
  { readModels }: Services,
): Promise<readonly Entry[]> {
  if (ids.length === 0) return [];
  return (await findChainOwners(readModels, ids)).map(({ id, script_id, group_ids }) =>
    changed('chain-', { id, script_id }, group_ids),
  );
}

/** The scripts that own these secret streams. The ID of a secret stream is the script's ID. */
async function ownersOfSecrets(
  ids: readonly string[],
  { readModels }: Services,
): Promise<readonly OwnedByScript[]> {
  const groups = await findScriptGroups(
    readModels,
    ids.map((id) => mustParse(parseScriptId, id)),
  );
  return [...groups].map(([id, group_id]) => ({ id, script_id: id, group_id }));
}

/** @param groupIds a reader must be able to see all of these groups; empty if the resource belongs to no group */
function changed(
  prefix: NamedPrefix,
  about: { readonly id: string; readonly script_id: string | null },
  groupIds: readonly (string | null)[] = [],
): Entry {
  const { resource, right } = named[prefix];
  const isFor = (reader: Principal) =>
    hasRightAnywhere(reader, right) && groupIds.every((groupId) => isIn(reader, groupId));
  return [
    `${prefix}${about.id}`,
    { isFor, frame: frameOf({ type: 'changed', resource, ...about }) },
  ];
}

/** A frame for users who can see the group. */
export function inGroup(groupId: string, body: object): FeedFrame {
  return { isFor: (reader) => isIn(reader, groupId), frame: frameOf(body) };
}

function frameOf(body: object): Buffer {
  return Buffer.from(JSON.stringify(body));
}
