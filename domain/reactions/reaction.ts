/** What a reaction is: an event in, commands out. */
import type { Command, EventType, Recorded } from '#domain/aggregates.ts';
import type { RunId, ScriptId } from '#domain/kernel/ids.ts';

export interface Reaction {
  /** Permanent: the ids of its commands are made from it. */
  readonly name: string;
  readonly handles: readonly EventType[];
  /** The commands that the event calls for. The same event gives the same commands, or fewer once
   *  they have had their effect; whoever carries them out gives each an id made of the event, the
   *  reaction and the command's place, so that none is carried out twice. */
  readonly react: (event: Recorded, reads: ReactionReads) => Promise<readonly Command[]>;
}

/** What reactions may look up. */
export interface ReactionReads {
  /** Runs of a script that are queued or running, oldest first. */
  readonly activeRuns: (scriptId: ScriptId) => Promise<readonly ActiveRun[]>;
}

export interface ActiveRun {
  readonly runId: RunId;
  readonly status: 'queued' | 'running';
  readonly queuedAt: Date;
}
