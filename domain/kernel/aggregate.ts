/** The interface that every aggregate of the domain implements. */
import type { Decision } from './decision.ts';
import type { ScriptSource } from '../repository/repository.ts';
import type { Identity } from '../user/events.ts';
import type { DomainEvent, StreamId } from './event.ts';

/** One kind of stream: folds its state and decides its commands. `Facts` holds the data of other streams that a
 *  decision needs. Facts are read under the same locks. */
export interface Aggregate<
  State,
  Command extends { readonly type: string },
  Event extends DomainEvent,
  Facts = undefined,
> {
  /** Prefix of the stream IDs. */
  readonly streamType: string;
  /** Every command type that the aggregate decides and every event type that it records. */
  readonly commands: TypesOf<Command>;
  readonly events: TypesOf<Event>;
  readonly initial: State;
  readonly evolve: (state: State, event: Event, version: number) => State;
  /** Folds many events. Defined only where one call is cheaper than one `evolve` per event. */
  readonly evolveAll?: (
    state: State,
    events: readonly (Event & { readonly version: number })[],
  ) => State;
  /** The version of the state, from 1. Increment the version with every change to the state's shape or to the fold.
   *  Snapshots with another number are ignored. */
  readonly stateVersion: number;
  readonly decide: (state: State, command: Command, facts: Facts) => Decision<Event>;
  /** The stream that a command writes to. */
  readonly streamOf: (command: Command) => StreamId;
  /** Other streams that are locked while the command is decided. */
  readonly guards: (command: Command) => readonly StreamId[];
  /** The guards whose facts change with each command of a batch. Each command with such a guard is decided only
   *  after the events of the previous command are recorded. */
  readonly exclusiveGuards?: (command: Command) => readonly StreamId[];
  /** Reads the facts of one command inside the append's transaction. */
  readonly readFacts: (command: Command, reads: DecisionReads) => Promise<Facts>;
}

/** The set of all types in a union. The compiler reports a missing type. */
export type TypesOf<Union extends { readonly type: string }> = {
  readonly [Type in Union['type']]: true;
};

/** The queries that decisions use. The results are current. Results about guarded streams cannot change
 *  before the decision is recorded. */
export interface DecisionReads {
  readonly script: (scriptId: string) => Promise<ScriptFacts | undefined>;
  readonly channelExists: (channelId: string) => Promise<boolean>;
  /** Whether notification rules use a channel. */
  readonly channelInUse: (channelId: string) => Promise<boolean>;
  readonly groupExists: (groupId: string) => Promise<boolean>;
  /** All chains, including chains of deleted scripts, which may be restored. */
  readonly chainLinks: () => Promise<readonly ChainLink[]>;
  /** The facts about a chain and one finished run of its source. */
  readonly chain: (chainId: string, sourceRunId: string) => Promise<ChainFacts | undefined>;
  readonly schedule: (scheduleId: string) => Promise<ScheduleFacts | undefined>;
  /** Whether a due time of a schedule started a run. */
  readonly dueTimeHasRun: (scheduleId: string, dueAt: string) => Promise<boolean>;
  readonly calendarExists: (calendarId: string) => Promise<boolean>;
  /** Whether schedules use a calendar, including schedules of deleted scripts. */
  readonly calendarInUse: (calendarId: string) => Promise<boolean>;
  readonly pool: (name: string) => Promise<PoolFacts | undefined>;
  /** Whether scripts use a pool, including deleted scripts. */
  readonly poolInUse: (name: string) => Promise<boolean>;
  readonly emailTaken: (email: string) => Promise<boolean>;
  /** Whether another account is linked to the identity. */
  readonly identityTaken: (identity: Identity, userId: string) => Promise<boolean>;
  /** Whether another user could approve an action on scripts of the group: an enabled administrator, an enabled
   *  developer of the group, or, for runs, an enabled operator of the group. */
  readonly otherApprover: (
    userId: string,
    groupId: string,
    action: 'run' | 'save',
  ) => Promise<boolean>;
  /** Whether another user is an enabled administrator. */
  readonly otherAdministrator: (userId: string) => Promise<boolean>;
  /** Whether another resource of the kind has the name, ignoring case. */
  readonly nameTaken: (kind: NamedKind, name: string, id: string) => Promise<boolean>;
  /** Whether scripts belong to a group, including deleted scripts. */
  readonly groupInUse: (groupId: string) => Promise<boolean>;
  /** The groups that may read a secret store; null: all groups; `undefined`: the store does not exist. */
  readonly secretStoreGroups: (storeId: string) => Promise<readonly string[] | null | undefined>;
  /** Describes the secrets whose values are in a secret store, including secrets of deleted scripts. */
  readonly secretStoreUsers: (storeId: string) => Promise<readonly string[]>;
  /** Whether a data key still exists. */
  readonly dataKeyExists: (keyId: string) => Promise<boolean>;
}

/** The kinds of resources whose names are unique. */
export type NamedKind = 'group' | 'repository' | 'secret_store';

/** The source and target of a chain. */
export interface ChainLink {
  readonly chainId: string;
  readonly sourceScriptId: string;
  readonly targetScriptId: string;
  readonly enabled: boolean;
}

export interface ChainFacts {
  /** Whether the chain exists and is enabled. */
  readonly enabled: boolean;
  /** Whether the chain has already handled the end of that run. */
  readonly answered: boolean;
}

/** The data of a schedule that determines its due times. */
export interface ScheduleFacts {
  /** Whether the schedule exists and is enabled. */
  readonly enabled: boolean;
  /** RFC 3339, in UTC with milliseconds. All due times up to this one are settled. */
  readonly servedUntil: string;
  /** Whether a run of the schedule is queued or running. */
  readonly active: boolean;
}

export interface PoolFacts {
  readonly limit: number;
  /** The number of runs that occupy a slot: they are running or ready to start. */
  readonly active: number;
}

/** The data of a script that is needed to admit a run. */
export interface ScriptFacts {
  readonly name: string;
  readonly groupId: string;
  readonly version: number;
  readonly enabled: boolean;
  readonly deleted: boolean;
  readonly maxConcurrentRuns: number;
  readonly entrypoint: string;
  readonly limits: { readonly [name: string]: number | null };
  readonly environment: { readonly [name: string]: string };
  readonly python: string | null;
  readonly startMode: 'warm' | 'cold' | 'resident';
  readonly listenPorts: readonly number[];
  readonly runsOn: readonly string[];
  readonly pools: readonly string[];
  /** Whether requested runs require an approval. */
  readonly protectedRun: boolean;
  readonly resolution: string | null;
  /** Null: the script comes from no repository. */
  readonly source: ScriptSource | null;
  /** Runs of the script that are running or ready to start. The concurrency limit counts these. */
  readonly activeRuns: number;
  /** Waiting runs of the script that could use a slot, counted up to the number of slots. */
  readonly waitingRuns: number;
}
