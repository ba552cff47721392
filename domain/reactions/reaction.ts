/** The interface of reactions, which turn events into commands. */
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
  /** Permanent, because the IDs of the reaction's commands derive from the name. */
  readonly name: string;
  readonly handles: readonly EventType[];
  /** Returns the commands that the event causes. Repeated calls return the same commands, but may omit commands that
   *  have already taken effect. The caller derives each command ID from the event, the reaction and the index of the
   *  command. Each command is therefore executed only once. */
  readonly react: (
    event: Recorded,
    reads: ReactionReads,
    newId: NewId,
  ) => Promise<readonly Command[]>;
  /** Whether the commands may be executed concurrently. By default, they are executed one after another. */
  readonly inAnyOrder?: boolean;
  /** Returns the command to execute after a refused command. By default, no command follows, because a refusal means
   *  that the state has changed in the meantime. */
  readonly onRefusal?: (command: Command, code: RefusalCode) => Command | undefined;
}

/** Derives an ID from the event, with the event's timestamp. Repeated calls return the same ID. @param name
 *  distinguishes the IDs that one reaction derives from one event. Never change a name. */
export type NewId = (name: string) => string;

/** The queries that reactions use. */
export interface ReactionReads {
  /** Returns the queued and running runs of a script, oldest first. */
  readonly activeRuns: (scriptId: ScriptId) => Promise<readonly ActiveRun[]>;
  /** Returns all members of a group. */
  readonly membersOf: (groupId: GroupId) => Promise<readonly UserId[]>;
  /** Returns the parameters with which a run was started, or `undefined` if the run does not exist. */
  readonly pastRun: (runId: RunId) => Promise<PastRun | undefined>;
  /** Returns the notification rules that apply to a script, or `undefined` if no rules apply.
   *  @param before returns only rules that were created before this time */
  readonly listeners: (scriptId: ScriptId, before: Date) => Promise<Listeners | undefined>;
  /** Returns the notification rules that apply to a group. These are the group's own rules and the rules for all
   *  scripts.
   *  @param before returns only rules that were created before this time */
  readonly groupListeners: (groupId: GroupId, before: Date) => Promise<readonly ListeningRule[]>;
  /** Returns the notification rules that apply to the platform. These are the rules for all scripts.
   *  @param before returns only rules that were created before this time */
  readonly platformListeners: (before: Date) => Promise<readonly ListeningRule[]>;
  /** Returns the outcomes of a script's runs that ended before this run, newest first.
   *  @param limit maximum number of outcomes */
  readonly endingsBefore: (
    scriptId: ScriptId,
    runId: RunId,
    limit: number,
  ) => Promise<readonly ('success' | 'failed')[]>;
  /** Returns the resolved error group of a failed run. Returns `undefined` if the run has no error, or if its error
   *  group is not resolved. */
  readonly resolvedErrorGroup: (runId: RunId) => Promise<ResolvedErrorGroup | undefined>;
  /** Returns the error group of a failed run, or `undefined` if the run has no error. */
  readonly errorGroupOf: (runId: RunId) => Promise<RunErrorGroup | undefined>;
  /** Returns the number of runs that failed with the same error, up to and including this run. Counting stops at
   *  `most`. The number is 0 if the run has no error or the error is ignored. */
  readonly errorOccurrences: (runId: RunId, most: number) => Promise<number>;
  /** Returns the script of a run, or `undefined` if the run does not exist. */
  readonly scriptOfRun: (runId: RunId) => Promise<ScriptId | undefined>;
  /** Returns the retry policy of a script. */
  readonly retryRules: (scriptId: ScriptId) => Promise<RetryRules | undefined>;
  /** Returns the enabled chains of a source script, if both scripts of the chain exist. */
  readonly chainsAfter: (scriptId: ScriptId) => Promise<readonly ChainAfter[]>;
  /** Whether triggers are paused. */
  readonly triggersPaused: () => Promise<boolean>;
  /** Returns the number of runs in the sequence that led to this run, including this run. Counting stops at `most`. */
  readonly depthOf: (runId: RunId, most: number) => Promise<number>;
  /** Stores the payload that a finished run passes to downstream runs. Repeated calls store the same payload.
   *  @returns the SHA-256 of the payload, in lower-case hex */
  readonly handOver: (runId: RunId) => Promise<string>;
}

/** The resolved error group of a failed run, with the script and version of that run. */
export interface ResolvedErrorGroup {
  readonly errorGroupId: ErrorGroupId;
  readonly scriptId: ScriptId;
  readonly version: number;
}

export interface RunErrorGroup {
  readonly errorGroupId: ErrorGroupId;
  /** Whether the error group was ignored when the run ended. */
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
  /** The enabled channels of the rule. */
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
  /** The chain handles only runs that end after this time. This is the time when the chain was created or last
   *  enabled. */
  readonly activeSince: Date;
}

export interface ActiveRun {
  readonly runId: RunId;
  readonly status: 'queued' | 'running';
  readonly queuedAt: Date;
}
