/** Every aggregate, its commands and its events: the one list that a new aggregate joins. */
import type { Aggregate, World } from './kernel/aggregate.ts';
import type { Decision } from './kernel/decision.ts';
import type { RecordedEvent, StreamId } from './kernel/event.ts';
import { backupAggregate } from './backup/decide.ts';
import { chainAggregate } from './chain/decide.ts';
import { channelAggregate } from './channel/decide.ts';
import { deliveryAggregate } from './delivery/decide.ts';
import { disclosureAggregate } from './disclosure/decide.ts';
import { errorGroupAggregate } from './error-group/decide.ts';
import { groupAggregate } from './group/decide.ts';
import { noticeAggregate } from './notice/decide.ts';
import { refusalAggregate } from './refusal/decide.ts';
import { ruleAggregate } from './rule/decide.ts';
import { runAggregate } from './run/decide.ts';
import { scheduleAggregate } from './schedule/decide.ts';
import { scriptAggregate } from './script/decide.ts';
import { secretAggregate } from './secret/decide.ts';
import { secretUseAggregate } from './secret-use/decide.ts';
import { sessionAggregate } from './session/decide.ts';
import { systemAggregate } from './system/decide.ts';
import { tokenAggregate } from './token/decide.ts';
import { updateAggregate } from './update/decide.ts';
import { userAggregate } from './user/decide.ts';
import { webhookAggregate } from './webhook/decide.ts';
import { formatOf, snapshotsAlong, stateAfter, type History, type Snapshot } from './snapshots.ts';

const aggregates = [
  scriptAggregate,
  secretAggregate,
  secretUseAggregate,
  scheduleAggregate,
  noticeAggregate,
  channelAggregate,
  ruleAggregate,
  deliveryAggregate,
  runAggregate,
  userAggregate,
  sessionAggregate,
  tokenAggregate,
  webhookAggregate,
  chainAggregate,
  groupAggregate,
  systemAggregate,
  backupAggregate,
  refusalAggregate,
  updateAggregate,
  disclosureAggregate,
  errorGroupAggregate,
] as const;

type Registered = (typeof aggregates)[number];

export type Command = CommandOf<Registered>;

export type PlatformEvent = EventOf<Registered>;

type CommandOf<One> =
  One extends Aggregate<infer _State, infer Commands, infer _Event, infer _Facts>
    ? Commands
    : never;

type EventOf<One> =
  One extends Aggregate<infer _State, infer _Command, infer Events, infer _Facts> ? Events : never;

export type EventType = PlatformEvent['type'];

/** The types of the events that this version of the program records. */
export const eventTypes = aggregates.flatMap(
  ({ events }) => Object.keys(events) as readonly EventType[],
);

/** A recorded event of a known type. */
export type Recorded<Event extends PlatformEvent = PlatformEvent> = Event extends PlatformEvent
  ? RecordedEvent<Event> & Event
  : never;

/** One command, bound to the aggregate that decides it. */
export interface Handling {
  readonly streamId: StreamId;
  readonly streamType: string;
  readonly guards: readonly StreamId[];
  /** Those of the guards that one command of a batch may have alone. */
  readonly takesTurns: readonly StreamId[];
  /** What snapshots of the stream must be of to be used. */
  readonly format: string;
  /** Folds the stream so far, gathers facts and decides. */
  readonly decide: (history: History, world: World) => Promise<Decision<PlatformEvent>>;
  /** The snapshots that are due on the way through the stream. */
  readonly snapshots: (history: History) => readonly Snapshot[];
}

/** Each type of command leads to the aggregate that decides it, which no type of the language can say. */
const deciding = new Map<string, Aggregate<unknown, Command, PlatformEvent, unknown>>(
  aggregates.flatMap((one) =>
    Object.keys(one.commands).map((type) => [
      type,
      one as unknown as Aggregate<unknown, Command, PlatformEvent, unknown>,
    ]),
  ),
);

/** Finds the aggregate of a command. @throws for a type that is none */
export function handlingOf(command: Command): Handling {
  const aggregate = deciding.get(command.type);
  if (aggregate === undefined) throw new Error(`no aggregate handles ${command.type}`);
  return {
    streamId: aggregate.streamOf(command),
    streamType: aggregate.streamType,
    guards: aggregate.guards(command),
    takesTurns: aggregate.takesTurns?.(command) ?? [],
    format: formatOf(aggregate),
    decide: async (history, world) => {
      const facts = await aggregate.gather(command, world);
      return aggregate.decide(stateAfter(aggregate, history), command, facts);
    },
    snapshots: (history) => snapshotsAlong(aggregate, history),
  };
}
