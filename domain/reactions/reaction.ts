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
  /** Permanent: the ids of the reaction's commands derive from it. */
  readonly name: string;
  readonly handles: readonly EventType[];
  /** The commands that the event causes. The same event gives the same commands, or fewer once they have taken
   *  effect. The caller derives the id of each command from the event, the reaction and the command's index, so
   *  that each command is executed once. */
  readonly react: (
    event: Recorded,
    reads: ReactionReads,
    newId: NewId,
  ) => Promise<readonly Command[]>;
  /** Whether these commands may be executed concurrently. Default: one after the other. */
  readonly inAnyOrder?: boolean;
  /** The commands that follow from the refusal of one of these commands. Default: none, because the state has
   *  changed meanwhile. */
  readonly onRefusal?: (command: Command, code: RefusalCode) => Command | undefined;
}

/** Derives an id from an event, with the event's timestamp. Repeated calls return the same id. @param name
 *  distinguishes ids of the same event and reaction; permanent */
export type NewId = (name: string) => string;

/** Queries that reactions use. */
export interface ReactionReads {
  /** Runs of a script that are queued or running, oldest first. */
  readonly activeRuns: (scriptId: ScriptId) => Promise<readonly ActiveRun[]>;
  /** All members of a group. */
  readonly membersOf: (groupId: GroupId) => Promise<readonly UserId[]>;
  /** The start parameters of a run; `undefined` if the run does not exist. */
  readonly pastRun: (runId: RunId) => Promise<PastRun | undefined>;
  /** The notification rules that apply to a script; `undefined` if there are none.
   *  @param before only rules that were created before this time */
  readonly listeners: (scriptId: ScriptId, before: Date) => Promise<Listeners | undefined>;
  /** The notification rules that apply to the platform: rules for all scripts.
   *  @param before only rules that were created before this time */
  readonly platformListeners: (before: Date) => Promise<readonly ListeningRule[]>;
  /** The previous outcomes of a script's runs before this run, newest first.
   *  @param limit maximum number of outcomes */
  readonly endingsBefore: (
    scriptId: ScriptId,
    runId: RunId,
    limit: number,
  ) => Promise<readonly ('success' | 'failed')[]>;
  /** The resolved error group of a run that failed; `undefined` if the run has no such group.
   *  @returns with the script version of the run */
  readonly resolvedErrorGroup: (
    runId: RunId,
  ) => Promise<{ readonly errorGroupId: ErrorGroupId; readonly version: number } | undefined>;
  /** The error group of a run that failed; `undefined` without an error. */
  readonly errorGroupOf: (runId: RunId) => Promise<RunErrorGroup | undefined>;
  /** The number of runs that failed with the error of this run, up to the end of this run; counted up to `most`.
   *  0 if the run has no error, or if users ignore the error. */
  readonly errorOccurrences: (runId: RunId, most: number) => Promise<number>;
  /** The script of a run; `undefined` if the run does not exist. */
  readonly scriptOfRun: (runId: RunId) => Promise<ScriptId | undefined>;
  /** The retry policy of a script. */
  readonly retryRules: (scriptId: ScriptId) => Promise<RetryRules | undefined>;
  /** Enabled chains of a source script. Both scripts of each chain exist. */
  readonly chainsAfter: (scriptId: ScriptId) => Promise<readonly ChainAfter[]>;
  /** Whether triggers are paused. */
  readonly triggersPaused: () => Promise<boolean>;
  /** The number of runs that caused one another, up to this run; counted up to `most`. */
  readonly depthOf: (runId: RunId, most: number) => Promise<number>;
  /** Stores the payload that a finished run passes to chained runs. The same run gives the same payload.
   *  @returns its SHA-256 in lower-case hex */
  readonly handOver: (runId: RunId) => Promise<string>;
}

export interface RunErrorGroup {
  readonly errorGroupId: ErrorGroupId;
  /** Whether users ignored the error at the end of the run. */
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
