/** A reaction turns an event into commands. */
import type { Command, EventType, Recorded } from '#domain/aggregates.ts';
import type { ChainSettings } from '#domain/chain/chain.ts';
import type { RefusalCode } from '#domain/kernel/decision.ts';
import type {
  ChainId,
  ChannelId,
  ErrorGroupId,
  GroupId,
  RuleId,
  RunId,
  ScriptId,
  UserId,
} from '#domain/kernel/ids.ts';
import type { ChannelKind } from '#domain/channel/channel.ts';
import type { NotifiableEvent } from '#domain/notification/notification.ts';
import type { RunPlan } from '#domain/run/commands.ts';
import type { RetryPolicy } from '#domain/script/settings.ts';

export interface Reaction {
  /** Permanent: the IDs of the reaction's commands derive from it. */
  readonly name: string;
  readonly handles: readonly EventType[];
  /** Returns the commands that the event causes. Repeated calls return the same commands, but may omit commands that
   *  have already taken effect. The caller derives the ID of each command from the event, the reaction and the
   *  command's index, so that each command is executed once. */
  readonly react: (
    event: Recorded,
    reads: ReactionReads,
    newId: NewId,
  ) => Promise<readonly Command[]>;
  /** Whether these commands may be executed concurrently. Default: one after another. */
  readonly inAnyOrder?: boolean;
  /** Returns the command to execute after one of these commands was refused. Default: none, because a refusal means
   *  that the state has changed in the meantime. */
  readonly onRefusal?: (command: Command, code: RefusalCode) => Command | undefined;
}

/** Derives an ID from an event, with the event's timestamp. Repeated calls return the same ID. @param name
 *  distinguishes IDs of the same event and reaction; permanent */
export type NewId = (name: string) => string;

/** Queries that reactions use. */
export interface ReactionReads {
  /** Runs of a script that are queued or running, oldest first. */
  readonly activeRuns: (scriptId: ScriptId) => Promise<readonly ActiveRun[]>;
  /** All members of a group. */
  readonly membersOf: (groupId: GroupId) => Promise<readonly UserId[]>;
  /** The start parameters of a run; `undefined` if the run does not exist. */
  readonly pastRun: (runId: RunId) => Promise<PastRun | undefined>;
  /** The notification rules that apply to a script; `undefined` if no rule applies.
   *  @param before only rules that were created before this time are returned */
  readonly listeners: (scriptId: ScriptId, before: Date) => Promise<Listeners | undefined>;
  /** The notification rules that apply to a group: its own rules and rules for all scripts.
   *  @param before only rules that were created before this time are returned */
  readonly groupListeners: (groupId: GroupId, before: Date) => Promise<readonly ListeningRule[]>;
  /** The notification rules that apply to the platform: rules for all scripts.
   *  @param before only rules that were created before this time are returned */
  readonly platformListeners: (before: Date) => Promise<readonly ListeningRule[]>;
  /** The outcomes of a script's runs that ended before this run, newest first.
   *  @param limit maximum number of outcomes */
  readonly endingsBefore: (
    scriptId: ScriptId,
    runId: RunId,
    limit: number,
  ) => Promise<readonly ('success' | 'failed')[]>;
  /** The resolved error group of a failed run; `undefined` if the run has no error, or if its error group is not
   *  resolved. */
  readonly resolvedErrorGroup: (runId: RunId) => Promise<ResolvedErrorGroup | undefined>;
  /** The error group of a failed run; `undefined` if the run has no error. */
  readonly errorGroupOf: (runId: RunId) => Promise<RunErrorGroup | undefined>;
  /** The number of runs that failed with the same error, up to and including this run; counted up to `most`. 0 if
   *  the run has no error or the error is ignored. */
  readonly errorOccurrences: (runId: RunId, most: number) => Promise<number>;
  /** The script of a run; `undefined` if the run does not exist. */
  readonly scriptOfRun: (runId: RunId) => Promise<ScriptId | undefined>;
  /** The retry policy of a script. */
  readonly retryRules: (scriptId: ScriptId) => Promise<RetryRules | undefined>;
  /** Enabled chains of a source script. Both scripts of each chain exist. */
  readonly chainsAfter: (scriptId: ScriptId) => Promise<readonly ChainAfter[]>;
  /** Whether triggers are paused. */
  readonly triggersPaused: () => Promise<boolean>;
  /** The length of the sequence of runs that led to this run, including this run; counted up to `most`. */
  readonly depthOf: (runId: RunId, most: number) => Promise<number>;
  /** Stores the payload that a finished run passes to chained runs. Repeated calls store the same payload.
   *  @returns its SHA-256 in lower-case hex */
  readonly handOver: (runId: RunId) => Promise<string>;
}

/** A resolved error group in which a run failed, with the run's script and version. */
export interface ResolvedErrorGroup {
  readonly errorGroupId: ErrorGroupId;
  readonly scriptId: ScriptId;
  readonly version: number;
}

export interface RunErrorGroup {
  readonly errorGroupId: ErrorGroupId;
  /** Whether the error was ignored when the run ended. */
  readonly isIgnored: boolean;
}

export interface Listeners {
  readonly scriptName: string;
  readonly groupId: GroupId;
  readonly rules: readonly ListeningRule[];
}

export interface ListeningRule {
  readonly ruleId: RuleId;
  readonly on: readonly NotifiableEvent[];
  readonly failedTimes: number;
  /** The enabled channels. */
  readonly channels: readonly { readonly channelId: ChannelId; readonly kind: ChannelKind }[];
}

export interface PastRun {
  readonly plan: RunPlan;
  readonly paramsSha256: string | null;
  readonly payloadSha256: string | undefined;
  readonly attempt: number;
  readonly stopRequested: boolean;
}

export interface RetryRules {
  readonly retry: RetryPolicy;
  readonly keepAlive: boolean;
}

export interface ChainAfter extends ChainSettings {
  readonly chainId: ChainId;
  /** The chain handles runs that end after this time: its creation, or the last time it was enabled. */
  readonly activeSince: Date;
}

export interface ActiveRun {
  readonly runId: RunId;
  readonly status: 'queued' | 'running';
  readonly queuedAt: Date;
}
