/** Creates histories of the whole platform from commands, without a store. */
import { bindCommand, type Command, type Recorded } from '#domain/aggregates.ts';
import type { Actor } from '#domain/kernel/actor.ts';
import type { ChainEvent } from '#domain/chain/events.ts';
import { evolveChain, initialChain } from '#domain/chain/state.ts';
import type {
  ChainFacts,
  ChainLink,
  ScheduleFacts,
  ScriptFacts,
  DecisionReads,
} from '#domain/kernel/aggregate.ts';
import type { DomainEvent, RecordedEvent, StreamId } from '#domain/kernel/event.ts';
import { isChained } from '#domain/run/run.ts';
import { scriptAggregate } from '#domain/script/decide.ts';
import type { ScriptEvent } from '#domain/script/events.ts';
import { schemaVersionOf } from '#domain/upcasts.ts';
import { commandId, eventId, groupId, userId } from './ids.ts';
import { createGroup, createScript } from './samples.ts';
import { stored } from './stored.ts';

/** Two groups and a script. */
export const beginning: readonly Command[] = [
  createGroup(),
  createGroup({ groupId: groupId(2), name: 'Others' }),
  createScript(),
];

const actors: readonly Actor[] = [
  { kind: 'user', userId: userId(), email: 'ada@example.com' },
  { kind: 'system', name: 'runtime' },
  { kind: 'anonymous' },
];

/** Executes commands in order, one second apart, starting at the beginning of 2026. Each command has a different
 *  actor. @returns the recorded events in order. Refused commands record no events. */
export async function recordAll(commands: readonly Command[]): Promise<readonly Recorded[]> {
  const log: Recorded[] = [];
  for (const [turn, command] of commands.entries()) {
    const { streamId, decide } = bindCommand(command);
    const history = log.filter((event) => event.streamId === streamId);
    const decision = await decide({ events: history }, decisionReads(log));
    if (decision.kind === 'refused') continue;
    for (const event of decision.events) {
      const version = log.filter((other) => other.streamId === streamId).length + 1;
      log.push(recorded(event, version, { streamId, place: log.length + 1, turn }) as Recorded);
    }
  }
  return log;
}

/** Returns the time at which the event at a position was recorded. */
export function at(place: number): Date {
  return new Date(Date.UTC(2026, 0, 1, 0, 0, place));
}

/** Returns an event as if it had been read from the store. By default, the event is from a test stream. */
export function recorded(
  event: DomainEvent,
  version: number,
  { streamId, place, turn }: Where = { streamId: 'test-1', place: version, turn: 0 },
): RecordedEvent {
  const envelope: Omit<RecordedEvent, 'type' | 'data'> = {
    position: { transactionId: BigInt(place), globalPosition: place },
    streamId,
    version,
    eventId: eventId(place),
    schemaVersion: schemaVersionOf(event.type),
    metadata: {
      commandId: commandId(turn + 1),
      actor: actors[turn % actors.length] ?? { kind: 'anonymous' },
      ip: turn % 2 === 0 ? '192.0.2.1' : null,
      correlationId: commandId(turn + 1),
      causationId: null,
    },
    recordedAt: at(place),
  };
  return { ...envelope, ...stored(event) };
}

interface Where {
  readonly streamId: StreamId;
  readonly place: number;
  readonly turn: number;
}

function decisionReads(log: readonly Recorded[]): DecisionReads {
  return {
    script: (id) => Promise.resolve(scriptFacts(log, id)),
    chainLinks: () => Promise.resolve(chainLinks(log)),
    chain: (id, sourceRunId) => Promise.resolve(chainFacts(log, id, sourceRunId)),
    channelExists: (id) => {
      const ofChannel = log.filter((event) => event.streamId === `channel-${id}`);
      return Promise.resolve(ofChannel.length > 0 && ofChannel.at(-1)?.type !== 'ChannelDeleted');
    },
    channelInUse: () => Promise.resolve(false),
    groupExists: (id) => Promise.resolve(log.some((event) => event.streamId === `group-${id}`)),
    nameTaken: () => Promise.resolve(false),
    groupInUse: (id) =>
      Promise.resolve(
        log.some(
          ({ type, data }) =>
            (type === 'ScriptCreated' || type === 'ScriptChanged') && data.groupId === id,
        ),
      ),
    otherApprover: () => Promise.resolve(true),
    otherAdministrator: () => Promise.resolve(false),
    identityTaken: () => Promise.resolve(false),
    secretStoreGroups: (id) =>
      Promise.resolve(log.some((one) => one.streamId === `secret_store-${id}`) ? null : undefined),
    secretStoreUsers: () => Promise.resolve([]),
    dataKeyExists: () => Promise.resolve(true),
    schedule: (id) => Promise.resolve(scheduleFacts(log, id)),
    dueTimeHasRun: (id, dueAt) =>
      Promise.resolve(
        log.some(
          ({ type, data }) =>
            type === 'RunQueued' &&
            data.trigger.type === 'schedule' &&
            data.trigger.scheduleId === id &&
            data.trigger.dueAt === dueAt,
        ),
      ),
    calendarExists: () => Promise.resolve(true),
    calendarInUse: () => Promise.resolve(false),
    pool: (name) => Promise.resolve({ limit: name.length, active: 0 }),
    poolInUse: () => Promise.resolve(false),
    emailTaken: (email) =>
      Promise.resolve(
        log.some((event) => event.type === 'UserCreated' && event.data.email === email),
      ),
  };
}

function chainLinks(log: readonly Recorded[]): readonly ChainLink[] {
  const chains = Map.groupBy(
    log.filter((event) => event.streamId.startsWith('chain-')),
    (event) => event.streamId,
  );
  return [...chains.values()].flatMap((events) => {
    const state = (events as readonly Recorded<ChainEvent>[]).reduce(evolveChain, initialChain);
    if (state.status !== 'there') return [];
    const { sourceScriptId, settings } = state;
    const { targetScriptId, enabled } = settings;
    const chainId = events[0]?.streamId.slice('chain-'.length) ?? '';
    return [{ chainId, sourceScriptId, targetScriptId, enabled }];
  });
}

function chainFacts(
  log: readonly Recorded[],
  id: string,
  sourceRunId: string,
): ChainFacts | undefined {
  const link = chainLinks(log).find((one) => one.chainId === id);
  const answered = log.some(({ type, data }) => {
    if (type === 'ChainSkipped') return data.chainId === id && data.sourceRunId === sourceRunId;
    if (type !== 'RunQueued' || !isChained(data.trigger)) return false;
    return data.trigger.chainId === id && data.trigger.runId === sourceRunId;
  });
  return link && { enabled: link.enabled, answered };
}

function scheduleFacts(log: readonly Recorded[], id: string): ScheduleFacts | undefined {
  const events = log.filter((event) => event.streamId === `schedule-${id}`);
  const last = events.findLast((event) => event.type !== 'OccurrencesPassed');
  if (last === undefined) return undefined;
  const served = log.flatMap((event) => {
    if (event.type === 'RunQueued') {
      const { trigger } = event.data;
      const isServed = trigger.type === 'schedule' && trigger.outcome !== 'backfilled';
      return isServed && trigger.scheduleId === id ? [trigger.dueAt] : [];
    }
    if (!events.includes(event)) return [];
    return event.type === 'OccurrencesPassed'
      ? event.data.occurrences.map(({ dueAt }) => dueAt)
      : [event.recordedAt.toISOString()];
  });
  return {
    enabled: 'definition' in last.data && last.data.definition.enabled,
    servedUntil: served.toSorted().at(-1) ?? '',
    active: false,
  };
}

function scriptFacts(log: readonly Recorded[], id: string): ScriptFacts | undefined {
  const events = log.filter((event) => event.streamId === `script-${id}`);
  const state = (events as readonly Recorded<ScriptEvent>[]).reduce(
    scriptAggregate.evolve,
    scriptAggregate.initial,
  );
  if (state.status === 'absent') return undefined;
  const of = (type: Recorded['type']) =>
    log.filter((one) => one.type === type && 'scriptId' in one.data && one.data.scriptId === id);
  const runsOf = (type: Recorded['type']) => new Set(of(type).map((one) => one.streamId));
  const [ended, released] = [runsOf('RunFinished'), runsOf('RunReleased')];
  const active = of('RunQueued').filter((one) => !ended.has(one.streamId));
  const pending = runsOf('RunApprovalRequested');
  for (const approved of runsOf('RunApproved')) pending.delete(approved);
  const held = active.filter(({ streamId }) => pending.has(streamId));
  const waiting = active.filter(
    (one) =>
      one.type === 'RunQueued' &&
      one.data.waiting &&
      !released.has(one.streamId) &&
      !pending.has(one.streamId),
  );
  const { name, groupId: group, version, enabled, settings } = state;
  return {
    name,
    groupId: group,
    version,
    enabled,
    deleted: state.status !== 'present',
    maxConcurrentRuns: settings.maxConcurrentRuns,
    entrypoint: settings.entrypoint,
    limits: { ...settings.limits },
    environment: settings.environment,
    python: settings.python,
    startMode: settings.startMode,
    listenPorts: settings.listenPorts,
    runsOn: settings.runsOn,
    pools: settings.pools,
    protectedRun: settings.protected.run,
    resolution: settings.resolution,
    source: state.source,
    activeRuns: active.length - waiting.length - held.length,
    waitingRuns: waiting.length,
  };
}
