/** Reads resources as of a point in time, for lists. Folds only each resource's own stream. */
import type { Recorded } from '#domain/aggregates.ts';
import { chainAggregate } from '#domain/chain/decide.ts';
import type { DomainEvent, RecordedEvent, StreamId } from '#domain/kernel/event.ts';
import { hasRightAnywhere, rights, type Right } from '#domain/kernel/rights.ts';
import { scheduleAggregate } from '#domain/schedule/decide.ts';
import type { ScheduleDefinition } from '#domain/schedule/schedule.ts';
import { scriptAggregate } from '#domain/script/decide.ts';
import { storageUsedBytes, type PresentScript } from '#domain/script/state.ts';
import { webhookAggregate } from '#domain/webhook/decide.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import {
  statesOf,
  streamsUntil,
  type Folding,
  type StreamAt,
} from '#infra/postgres/event-store/states-at.ts';
import { readHistories } from '#infra/postgres/event-store/stream-histories.ts';
import { firstEvents, type Moment } from '#infra/postgres/event-store/streams-at.ts';
import { actorName } from '#projections/actors.ts';
import { groupsProjection } from '#projections/groups/apply.ts';
import type { GroupsTable } from '#projections/groups/table.ts';
import type { Projection } from '#projections/projection.ts';
import { runsProjection } from '#projections/runs/apply.ts';
import type { RunsTable } from '#projections/runs/table.ts';
import { usersProjection } from '#projections/users/apply.ts';
import type { UsersTable } from '#projections/users/table.ts';
import { principalOf } from '#services/shared/principals.ts';
import { accountJson } from '../access/view.ts';
import { groupJson } from '../people/view.ts';
import { definitionJson } from '../schedules/view.ts';

/** A resource that existed at the requested time. */
export interface Replayed {
  /** The groups of the resource at the requested time. */
  readonly groupIds: readonly string[] | 'every';
  readonly item: Readonly<Record<string, unknown>>;
  /** Related data that the view of the resource shows. */
  readonly related?: Related;
}

export interface Related {
  readonly shown: Readonly<Record<string, unknown>>;
  readonly paramsSha256?: string | null;
  /** The names of the scripts that the resource depends on, by ID, as of the requested time; undefined if a script
   *  did not exist. */
  readonly scripts?: ReadonlyMap<string, string | undefined>;
}

/** Reads the resources of the given streams as of `until`, by ID. */
export type ReadAt = (
  db: Queryable,
  streams: readonly StreamAt[],
  moment: Moment,
) => Promise<ReadonlyMap<StreamId, Replayed>>;

export const idOf = (streamId: string): string => streamId.slice(streamId.indexOf('-') + 1);

/** Folds rows of a projection from a stream. Use it for short streams only. */
function rowsAt<Row extends object>(
  { rowAfter }: Projection,
  replayed: (row: Row) => Replayed,
): ReadAt {
  return async (db, streams) => {
    const wanted = streams.map((one) => ({ ...one, format: '' }));
    const histories = await readHistories(db, wanted);
    const found = streams.flatMap(({ streamId }) => {
      const events = (histories.get(streamId)?.events ?? []) as readonly Recorded[];
      const row = rowAfter?.(events) as Row | undefined;
      return row === undefined ? [] : [[streamId, replayed(row)] as const];
    });
    return new Map(found);
  };
}

export const groupsAt = rowsAt<GroupsTable>(groupsProjection, (group) => ({
  groupIds: [group.group_id],
  item: groupJson(group),
}));

export const usersAt = rowsAt<UsersTable>(usersProjection, (user) => ({
  groupIds: user.role === 'administrator' ? 'every' : user.group_ids,
  item: { ...accountJson(user), rights: user.disabled ? [] : rightsOf(user) },
  related: { shown: { created_at: user.created_at } },
}));

function rightsOf(user: UsersTable): readonly Right[] {
  const principal = principalOf(user);
  return (Object.keys(rights) as Right[]).filter((right) => hasRightAnywhere(principal, right));
}

export const runsAt = rowsAt<RunsTable>(runsProjection, (run) => ({
  groupIds: [run.group_id],
  item: {
    run_id: run.run_id,
    script_id: run.script_id,
    script_name: run.script_name,
    script_version: run.script_version,
    status: run.status,
    waiting: run.waiting,
    trigger_type: run.trigger_type,
    requested_by: run.requested_by,
    attempt: run.attempt,
    queued_at: run.queued_at,
    started_at: run.started_at,
    runtime_id: run.runtime_id,
  },
}));

function creation(first: RecordedEvent | undefined) {
  if (first === undefined) throw new Error('the first event of a stream is missing');
  return { created_at: first.recordedAt, created_by: actorName(first.metadata.actor) };
}

export const scriptsAt: ReadAt = async (db, streams) => {
  const ids = streams.map(({ streamId }) => streamId);
  const [states, firsts] = await Promise.all([
    statesOf(db, scriptAggregate, streams),
    firstEvents(db, ids),
  ]);
  const found = ids.flatMap((streamId) => {
    const state = states.get(streamId);
    if (state?.status !== 'present') return [];
    const { settings } = state;
    const item = {
      id: idOf(streamId),
      name: state.name,
      description: state.description,
      group_id: state.groupId,
      enabled: state.enabled,
      version: state.version,
      entrypoint: settings.entrypoint,
      max_concurrent_runs: settings.maxConcurrentRuns,
      keep_alive: settings.keepAlive,
      files: state.files.size,
      storage_used_bytes: storageUsedBytes(state.files.values()),
      ...creation(firsts.get(streamId)),
    };
    return [[streamId, { groupIds: [state.groupId], item }] as const];
  });
  return new Map(found);
};

/** Reads resources that belong to a script and are deleted with the script. */
function ofScripts<State, Event extends DomainEvent>(
  aggregate: Folding<State, Event>,
  shown: (state: State) => Omit<Replayed, 'groupIds'> | undefined,
): ReadAt {
  return async (db, streams, moment) => {
    const ids = streams.map(({ streamId }) => streamId);
    const [states, firsts] = await Promise.all([
      statesOf(db, aggregate, streams),
      firstEvents(db, ids),
    ]);
    const owners = new Map(ids.map((id) => [id, ownerIn(firsts.get(id))]));
    const owned = new Map([...states].map(([id, state]) => [id, shown(state)]));
    const scriptIds = [...owners.values()].map(({ scriptId }) => scriptId);
    const targetIds = [...owned.values()].flatMap((own) => targetIn(own?.item) ?? []);
    const scripts = await scriptsPresent(db, [...scriptIds, ...targetIds], moment);
    const found = ids.flatMap((streamId) => {
      const { name, scriptId } = owners.get(streamId) ?? noOwner;
      const [own, script] = [owned.get(streamId), scripts.get(scriptId)];
      if (own === undefined || script === undefined) return [];
      const created = creation(firsts.get(streamId));
      const item = { id: idOf(streamId), [name]: scriptId, ...own.item, ...created };
      const needed = [scriptId, targetIn(own.item) ?? scriptId];
      const names = new Map(needed.map((id) => [id, scripts.get(id)?.name]));
      const related = { shown: {}, ...own.related, scripts: names };
      return [[streamId, { groupIds: [script.groupId], item, related }] as const];
    });
    return new Map(found);
  };
}

/** The ID of a chain's target script; undefined for other resources. */
function targetIn(item: Replayed['item'] | undefined): string | undefined {
  const id = item?.['target_script_id'];
  return typeof id === 'string' ? id : undefined;
}

interface Owner {
  /** The field that contains the ID of the script. */
  readonly name: 'script_id' | 'source_script_id';
  readonly scriptId: string;
}

const noOwner: Owner = { name: 'script_id', scriptId: '' };

function ownerIn(first: RecordedEvent | undefined): Owner {
  const data = (first?.data ?? {}) as {
    readonly scriptId?: string;
    readonly sourceScriptId?: string;
  };
  if (data.sourceScriptId === undefined)
    return { name: 'script_id', scriptId: data.scriptId ?? '' };
  return { name: 'source_script_id', scriptId: data.sourceScriptId };
}

/** The scripts that existed at the requested time, by ID. */
async function scriptsPresent(
  db: Queryable,
  scriptIds: readonly string[],
  moment: Moment,
): Promise<ReadonlyMap<string, PresentScript>> {
  const streamIds = [...new Set(scriptIds)].map((id) => `script-${id}` as const);
  const streams = await streamsUntil(db, streamIds, moment);
  const states = await statesOf(db, scriptAggregate, streams);
  const present = [...states].flatMap(([streamId, state]) =>
    state.status === 'present' ? [[idOf(streamId), state] as const] : [],
  );
  return new Map(present);
}

/** The group of each script, or its last group if the script is deleted, by script ID. */
export async function currentGroups(
  db: Queryable,
  scriptIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const streams = [...new Set(scriptIds)].map((id) => ({ streamId: `script-${id}` as const }));
  const states = await statesOf(db, scriptAggregate, streams);
  const groups = [...states].flatMap(([streamId, state]) =>
    state.status === 'absent' ? [] : [[idOf(streamId), state.groupId] as const],
  );
  return new Map(groups);
}

export const schedulesAt = ofScripts(scheduleAggregate, (state) => {
  if (state.status !== 'present') return undefined;
  const definition = JSON.parse(state.definition) as ScheduleDefinition;
  const item = { ...definitionJson(definition), version: state.version };
  return { item, related: { shown: {}, paramsSha256: definition.paramsSha256 } };
});

export const webhooksAt = ofScripts(webhookAggregate, (state) => {
  if (state.status !== 'there') return undefined;
  const { name, enabled, whenBusy, rateLimitPerMinute } = state.settings;
  const item = { name, enabled, when_busy: whenBusy, rate_limit_per_minute: rateLimitPerMinute };
  return { item, related: { shown: { signing: state.signing } } };
});

export const chainsAt = ofScripts(chainAggregate, (state) => {
  if (state.status !== 'there') return undefined;
  const { targetScriptId, on, enabled, whenBusy, paramsSha256 } = state.settings;
  const item = { target_script_id: targetScriptId, on, enabled, when_busy: whenBusy };
  return { item, related: { shown: {}, paramsSha256 } };
});
