/** The interface that every aggregate of the domain implements. */
import type { Decision } from './decision.ts';
import type { ScriptSource } from '../repository/repository.ts';
import type { Identity } from '../user/events.ts';
import type { DomainEvent, StreamId } from './event.ts';

/** One kind of stream, with the functions that fold its state and decide its commands. `Facts` is the data from
 *  other streams that decisions need. Facts are read while the streams are locked. */
export interface Aggregate<
  State,
  Command extends { readonly type: string },
  Event extends DomainEvent,
  Facts = undefined,
> {
  /** The prefix of the stream IDs. */
  readonly streamType: string;
  /** All command types that the aggregate decides. `events` contains all event types that it records. */
  readonly commands: TypesOf<Command>;
  readonly events: TypesOf<Event>;
  readonly initial: State;
  readonly evolve: (state: State, event: Event, version: number) => State;
  /** Folds many events in one call. Defined only if this is cheaper than one `evolve` call per event. */
  readonly evolveAll?: (
    state: State,
    events: readonly (Event & { readonly version: number })[],
  ) => State;
  /** The version of the state's format, starting at 1. Increment this version whenever the shape of the state or the
   *  fold changes. Snapshots with another version are ignored. */
  readonly stateVersion: number;
  readonly decide: (state: State, command: Command, facts: Facts) => Decision<Event>;
  /** The stream that a command writes to. */
  readonly streamOf: (command: Command) => StreamId;
  /** Other streams that must be locked while the command is decided. */
  readonly guards: (command: Command) => readonly StreamId[];
  /** The guards whose facts change with each command. In a batch, a command with such a guard is decided only after
   *  the events of the previous command are recorded. */
  readonly exclusiveGuards?: (command: Command) => readonly StreamId[];
  /** Reads the facts for one command in the transaction of the append. */
  readonly readFacts: (command: Command, reads: DecisionReads) => Promise<Facts>;
}

/** An object with every type of a union as a key. The compiler reports missing types. */
export type TypesOf<Union extends { readonly type: string }> = {
  readonly [Type in Union['type']]: true;
};

/** The queries that decisions use. They read current data. Data from guarded streams cannot change until the
 *  decision is recorded. */
export interface DecisionReads {
  readonly script: (scriptId: string) => Promise<ScriptFacts | undefined>;
  readonly channelExists: (channelId: string) => Promise<boolean>;
  /** Whether notification rules use a channel. */
  readonly channelInUse: (channelId: string) => Promise<boolean>;
  readonly groupExists: (groupId: string) => Promise<boolean>;
  /** All chains, including chains of deleted scripts, which may be restored. */
  readonly chainLinks: () => Promise<readonly ChainLink[]>;
  /** Facts about a chain and about one finished run of its source script. */
  readonly chain: (chainId: string, sourceRunId: string) => Promise<ChainFacts | undefined>;
  readonly schedule: (scheduleId: string) => Promise<ScheduleFacts | undefined>;
  /** Whether a run was started for a due time of a schedule. */
  readonly dueTimeHasRun: (scheduleId: string, dueAt: string) => Promise<boolean>;
  readonly calendarExists: (calendarId: string) => Promise<boolean>;
  /** Whether any schedule uses the calendar. Schedules of deleted scripts count. */
  readonly calendarInUse: (calendarId: string) => Promise<boolean>;
  readonly pool: (name: string) => Promise<PoolFacts | undefined>;
  /** Whether any script uses the pool. Deleted scripts count. */
  readonly poolInUse: (name: string) => Promise<boolean>;
  readonly emailTaken: (email: string) => Promise<boolean>;
  /** Whether another account is linked to the identity. */
  readonly identityTaken: (identity: Identity, userId: string) => Promise<boolean>;
  /** Whether another user could approve an action on scripts of the group. Approvers are enabled administrators and
   *  enabled developers of the group. For runs, enabled operators of the group are also approvers. */
  readonly otherApprover: (
    userId: string,
    groupId: string,
    action: 'run' | 'save',
  ) => Promise<boolean>;
  /** Whether another user is an enabled administrator. */
  readonly otherAdministrator: (userId: string) => Promise<boolean>;
  /** Whether another resource of this kind has the same name, ignoring case. */
  readonly nameTaken: (kind: NamedKind, name: string, id: string) => Promise<boolean>;
  /** Whether any script belongs to the group. Deleted scripts count. */
  readonly groupInUse: (groupId: string) => Promise<boolean>;
  /** The groups that may read a secret store. Null means all groups, and `undefined` means that the store does not
   *  exist. */
  readonly secretStoreGroups: (storeId: string) => Promise<readonly string[] | null | undefined>;
  /** Descriptions of the secrets whose values are in a secret store, including secrets of deleted scripts. */
  readonly secretStoreUsers: (storeId: string) => Promise<readonly string[]>;
  /** Whether a data key still exists. */
  readonly dataKeyExists: (keyId: string) => Promise<boolean>;
}

/** The kinds of resources whose names are unique. */
export type NamedKind = 'group' | 'repository' | 'secret_store';

/** The source and target scripts of a chain. */
export interface ChainLink {
  readonly chainId: string;
  readonly sourceScriptId: string;
  readonly targetScriptId: string;
  readonly enabled: boolean;
}

export interface ChainFacts {
  /** Whether the chain exists and is enabled. */
  readonly enabled: boolean;
  /** Whether the chain has already handled the end of the run. */
  readonly answered: boolean;
}

/** The facts about a schedule that decide whether a due time may start a run. */
export interface ScheduleFacts {
  /** Whether the schedule exists and is enabled. */
  readonly enabled: boolean;
  /** RFC 3339, in UTC with milliseconds. All due times up to and including this time are settled. */
  readonly servedUntil: string;
  /** Whether a run of the schedule is queued or running. */
  readonly active: boolean;
}

export interface PoolFacts {
  readonly limit: number;
  /** The number of runs that occupy a slot. These are running runs and runs that are ready to start. */
  readonly active: number;
}

/** The facts about a script that decide whether a run is admitted. */
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
  /** The Git repository that the script comes from. Null if the script comes from no repository. */
  readonly source: ScriptSource | null;
  /** The number of runs that are running or ready to start. These runs count toward the concurrency limit. */
  readonly activeRuns: number;
  /** The number of waiting runs that could use a slot. Counting stops at the number of slots. */
  readonly waitingRuns: number;
}
