/** What a reaction is: an event in, commands out. */
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
import type { Happening } from '#domain/notification/notification.ts';
import type { RunPlan } from '#domain/run/commands.ts';
import type { RetryPolicy } from '#domain/script/settings.ts';

export interface Reaction {
  /** Permanent: the ids of its commands are made from it. */
  readonly name: string;
  readonly handles: readonly EventType[];
  /** The commands that the event calls for. The same event gives the same commands, or fewer once
   *  they have had their effect; whoever carries them out gives each an id made of the event, the
   *  reaction and the command's place, so that none is carried out twice. */
  readonly react: (
    event: Recorded,
    reads: ReactionReads,
    newId: NewId,
  ) => Promise<readonly Command[]>;
  /** Whether these commands may be carried out side by side. Default: one after the other. */
  readonly inAnyOrder?: boolean;
  /** What a refusal of one of these commands calls for. Default: nothing; the world has moved on. */
  readonly onRefusal?: (command: Command, code: RefusalCode) => Command | undefined;
}

/** The id of something that the event calls for: the same at every look, and at the event's place in the
 *  order of time. @param name tells it from others of the same event and reaction; permanent */
export type NewId = (name: string) => string;

/** What reactions may look up. */
export interface ReactionReads {
  /** Runs of a script that are queued or running, oldest first. */
  readonly activeRuns: (scriptId: ScriptId) => Promise<readonly ActiveRun[]>;
  /** Everybody who belongs to a group. */
  readonly membersOf: (groupId: GroupId) => Promise<readonly UserId[]>;
  /** What a run was; `undefined` where there is none. */
  readonly pastRun: (runId: RunId) => Promise<PastRun | undefined>;
  /** Whom to tell of what happens to a script; `undefined` where nobody listens.
   *  @param before those that were set up by then */
  readonly listeners: (scriptId: ScriptId, before: Date) => Promise<Listeners | undefined>;
  /** Whom to tell of what happens to the platform itself: rules that are for all scripts.
   *  @param before those that were set up by then */
  readonly platformListeners: (before: Date) => Promise<readonly ListeningRule[]>;
  /** How the runs of a script before this one have succeeded or failed, the last first.
   *  @param limit at most so many */
  readonly endingsBefore: (
    scriptId: ScriptId,
    runId: RunId,
    limit: number,
  ) => Promise<readonly ('success' | 'failed')[]>;
  /** The resolved error group of a run that failed; `undefined` where it has none.
   *  @returns with the script version of the run */
  readonly resolvedErrorGroup: (
    runId: RunId,
  ) => Promise<{ readonly errorGroupId: ErrorGroupId; readonly version: number } | undefined>;
  /** What is to follow on failed runs of a script. */
  readonly retryRules: (scriptId: ScriptId) => Promise<RetryRules | undefined>;
  /** Chains that are on and begin with a script, both of whose scripts are there. */
  readonly chainsAfter: (scriptId: ScriptId) => Promise<readonly ChainAfter[]>;
  /** Whether what starts by itself is held. */
  readonly triggersPaused: () => Promise<boolean>;
  /** How many runs caused one another up to this one; counted to `most`. */
  readonly depthOf: (runId: RunId, most: number) => Promise<number>;
  /** Keeps what a run that has ended tells those that are chained to it. The same run gives the same.
   *  @returns its SHA-256 in lower-case hex */
  readonly handOver: (runId: RunId) => Promise<string>;
}

export interface Listeners {
  readonly scriptName: string;
  readonly groupId: GroupId;
  readonly rules: readonly ListeningRule[];
}

export interface ListeningRule {
  readonly ruleId: RuleId;
  readonly on: readonly Happening[];
  readonly failedTimes: number;
  /** Those that are switched on. */
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
  /** It answers to what ends from then on: it was made then, or switched on. */
  readonly activeSince: Date;
}

export interface ActiveRun {
  readonly runId: RunId;
  readonly status: 'queued' | 'running';
  readonly queuedAt: Date;
}
