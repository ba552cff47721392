/** The shape that every aggregate of the domain has. */
import type { Decision } from './decision.ts';
import type { DomainEvent, StreamId } from './event.ts';

/** One kind of stream: how its state is folded and how its commands are decided.
 *  `Facts` is what a decision needs to know of other streams; it is read under the same locks. */
export interface Aggregate<
  State,
  Command extends { readonly type: string },
  Event extends DomainEvent,
  Facts = undefined,
> {
  /** Prefix of the stream ids. */
  readonly streamType: string;
  /** Every type of command that it decides, and of event that it records. */
  readonly commands: TypesOf<Command>;
  readonly events: TypesOf<Event>;
  readonly initial: State;
  readonly evolve: (state: State, event: Event, version: number) => State;
  /** The same for one event after the other, where that can be had for less than `evolve` for each. */
  readonly evolveAll?: (
    state: State,
    events: readonly (Event & { readonly version: number })[],
  ) => State;
  /** From 1; raised with every change of what a state holds or of how events are folded. States that
   *  were kept under another number are not used. */
  readonly stateVersion: number;
  readonly decide: (state: State, command: Command, facts: Facts) => Decision<Event>;
  /** The stream a command writes to. */
  readonly streamOf: (command: Command) => StreamId;
  /** Other streams that must not move while the command is decided. */
  readonly guards: (command: Command) => readonly StreamId[];
  /** Of the guards, those that stand for facts which one command of a batch changes for the others: of
   *  those that have one, each is decided once what the one before it did is recorded. */
  readonly takesTurns?: (command: Command) => readonly StreamId[];
  /** Collects the facts of one command; runs inside the append's transaction. */
  readonly gather: (command: Command, world: World) => Promise<Facts>;
}

/** A set of all types of a union: the compiler names the one that is missing. */
export type TypesOf<Union extends { readonly type: string }> = {
  readonly [Type in Union['type']]: true;
};

/** What deciders may ask about the rest of the world. Answers are current and, for guarded
 *  streams, cannot change before the decision is recorded. */
export interface World {
  readonly script: (scriptId: string) => Promise<ScriptFacts | undefined>;
  readonly channelExists: (channelId: string) => Promise<boolean>;
  /** Whether notification rules lead to a channel. */
  readonly channelInUse: (channelId: string) => Promise<boolean>;
  readonly groupExists: (groupId: string) => Promise<boolean>;
  /** All chains there are, also of scripts that are deleted and may come back. */
  readonly chainLinks: () => Promise<readonly ChainLink[]>;
  /** A chain as it stands to the end of one run of its source. */
  readonly chain: (chainId: string, sourceRunId: string) => Promise<ChainFacts | undefined>;
  readonly schedule: (scheduleId: string) => Promise<ScheduleFacts | undefined>;
  readonly emailTaken: (email: string) => Promise<boolean>;
  /** Whether somebody but this one is an administrator whose account is not disabled. */
  readonly otherAdministrator: (userId: string) => Promise<boolean>;
  /** Whether a group but this one has a name, in whatever case. */
  readonly groupNameTaken: (name: string, groupId: string) => Promise<boolean>;
  /** Whether scripts belong to a group, deleted ones among them. */
  readonly groupInUse: (groupId: string) => Promise<boolean>;
  /** Whether a data key has not been destroyed. */
  readonly dataKeyExists: (keyId: string) => Promise<boolean>;
}

/** Where a chain leads. */
export interface ChainLink {
  readonly chainId: string;
  readonly sourceScriptId: string;
  readonly targetScriptId: string;
  readonly enabled: boolean;
}

export interface ChainFacts {
  /** It is there and not switched off. */
  readonly enabled: boolean;
  /** It has answered to the end of that run already. */
  readonly answered: boolean;
}

/** A schedule as those see it who serve its due times. */
export interface ScheduleFacts {
  /** It is there and not switched off. */
  readonly enabled: boolean;
  /** RFC 3339, in UTC with milliseconds. Due times up to this have ended, or were none. */
  readonly servedUntil: string;
  /** A run of it is queued or running. */
  readonly active: boolean;
}

/** A script as the admission of a run sees it. */
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
  readonly startMode: 'warm' | 'cold';
  readonly listenPorts: readonly number[];
  readonly resolution: string | null;
  /** Runs of the script that are running or queued to start: those that the limit counts. */
  readonly activeRuns: number;
  /** Runs of the script that wait for a slot and could have one; no more are counted than it has slots. */
  readonly waitingRuns: number;
}
