/** What a reaction is: an event in, commands out. */
import type { Command, EventType, Recorded } from '#domain/aggregates.ts';
import type { RunId, ScriptId } from '#domain/kernel/ids.ts';
import type { RunPlan } from '#domain/run/commands.ts';
import type { RetryPolicy } from '#domain/script/settings.ts';

export interface Reaction {
  /** Permanent: the ids of its commands are made from it. */
  readonly name: string;
  readonly handles: readonly EventType[];
  /** The commands that the event calls for. The same event gives the same commands, or fewer once
   *  they have had their effect; whoever carries them out gives each an id made of the event, the
   *  reaction and the command's place, so that none is carried out twice.
   *  @param newRunId the id of the one run that the event calls for: the same at every look */
  readonly react: (
    event: Recorded,
    reads: ReactionReads,
    newRunId: RunId,
  ) => Promise<readonly Command[]>;
}

/** What reactions may look up. */
export interface ReactionReads {
  /** Runs of a script that are queued or running, oldest first. */
  readonly activeRuns: (scriptId: ScriptId) => Promise<readonly ActiveRun[]>;
  /** What a run was; `undefined` where there is none. */
  readonly pastRun: (runId: RunId) => Promise<PastRun | undefined>;
  /** What is to follow on failed runs of a script. */
  readonly retryRules: (scriptId: ScriptId) => Promise<RetryRules | undefined>;
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

export interface ActiveRun {
  readonly runId: RunId;
  readonly status: 'queued' | 'running';
  readonly queuedAt: Date;
}
