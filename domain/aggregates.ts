/** Lists every aggregate with its commands and events. Add a new aggregate to this list. */
import type { Aggregate, DecisionReads } from './kernel/aggregate.ts';
import type { Decision } from './kernel/decision.ts';
import type { RecordedEvent, StreamId } from './kernel/event.ts';
import { backupAggregate } from './backup/decide.ts';
import { calendarAggregate } from './calendar/decide.ts';
import { chainAggregate } from './chain/decide.ts';
import { channelAggregate } from './channel/decide.ts';
import { deliveryAggregate } from './delivery/decide.ts';
import { disclosureAggregate } from './disclosure/decide.ts';
import { errorGroupAggregate } from './error-group/decide.ts';
import { expectationAggregate } from './expectation/decide.ts';
import { groupAggregate } from './group/decide.ts';
import { groupSecretAggregate } from './group-secret/decide.ts';
import { identityProviderAggregate } from './identity-provider/decide.ts';
import { noticeAggregate } from './notice/decide.ts';
import { poolAggregate } from './pool/decide.ts';
import { refusalAggregate } from './refusal/decide.ts';
import { repositoryAggregate } from './repository/decide.ts';
import { rotationAggregate } from './rotation/decide.ts';
import { ruleAggregate } from './rule/decide.ts';
import { runAggregate } from './run/decide.ts';
import { runtimeAggregate } from './runtime/decide.ts';
import { scheduleAggregate } from './schedule/decide.ts';
import { scriptAggregate } from './script/decide.ts';
import { secretStoreAggregate } from './secret-store/decide.ts';
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
  runtimeAggregate,
  expectationAggregate,
  identityProviderAggregate,
  poolAggregate,
  groupSecretAggregate,
  rotationAggregate,
  repositoryAggregate,
  secretStoreAggregate,
  calendarAggregate,
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

/** The event types that this version of the platform records. */
export const eventTypes = aggregates.flatMap(
  ({ events }) => Object.keys(events) as readonly EventType[],
);

/** A recorded event of a known type. */
export type Recorded<Event extends PlatformEvent = PlatformEvent> = Event extends PlatformEvent
  ? RecordedEvent<Event> & Event
  : never;

/** A command, bound to the aggregate that decides it. */
export interface CommandBinding {
  readonly streamId: StreamId;
  readonly streamType: string;
  readonly guards: readonly StreamId[];
  /** Guards that must not be shared by two commands of a batch, because each command changes the facts under the
   *  guard. */
  readonly exclusiveGuards: readonly StreamId[];
  /** The format of the stream's snapshots. Snapshots in another format are ignored. */
  readonly format: string;
  /** Folds the stream, reads the required facts, and decides the command. */
  readonly decide: (history: History, reads: DecisionReads) => Promise<Decision<PlatformEvent>>;
  /** The snapshots to store after the stream is folded. */
  readonly snapshots: (history: History) => readonly Snapshot[];
}

/** Maps each command type to its aggregate. TypeScript cannot express the relation between a command type and its
 *  aggregate, so the types are cast. */
const deciding = new Map<string, Aggregate<unknown, Command, PlatformEvent, unknown>>(
  aggregates.flatMap((one) =>
    Object.keys(one.commands).map((type) => [
      type,
      one as unknown as Aggregate<unknown, Command, PlatformEvent, unknown>,
    ]),
  ),
);

/** Binds a command to the aggregate that handles it. @throws Error if no aggregate handles the command */
export function bindCommand(command: Command): CommandBinding {
  const aggregate = deciding.get(command.type);
  if (aggregate === undefined) throw new Error(`no aggregate handles ${command.type}`);
  return {
    streamId: aggregate.streamOf(command),
    streamType: aggregate.streamType,
    guards: aggregate.guards(command),
    exclusiveGuards: aggregate.exclusiveGuards?.(command) ?? [],
    format: formatOf(aggregate),
    decide: async (history, reads) => {
      const facts = await aggregate.readFacts(command, reads);
      return aggregate.decide(stateAfter(aggregate, history), command, facts);
    },
    snapshots: (history) => snapshotsAlong(aggregate, history),
  };
}
