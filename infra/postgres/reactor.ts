/** Carries out what events call for: each reaction reads the store behind its own checkpoint. */
import type { Command, Recorded } from '#domain/aggregates.ts';
import { startOfStore } from '#domain/kernel/event.ts';
import { inOrderOfTime, known, parseCommandId } from '#domain/kernel/ids.ts';
import type { Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { Reaction, ReactionReads } from '#domain/reactions/reaction.ts';
import type pg from 'pg';
import { makeCheckpoint, moveCheckpoint, readCheckpoint } from './checkpoints.ts';
import { readChunk } from './event-chunks.ts';

const chunkSize = 1_000;

export interface ReactorParts {
  readonly pool: pg.Pool;
  readonly commands: Commands;
  readonly ids: Ids;
  readonly reads: ReactionReads;
  readonly reactions: readonly Reaction[];
}

export class Reactor {
  readonly #parts: ReactorParts;

  constructor(parts: ReactorParts) {
    this.#parts = parts;
  }

  /** Reacts to everything that was recorded since. Two reactors at once do no harm: the commands'
   *  ids are made from their causes, and the checkpoint moves only from where it was read.
   *  @returns how many events were reacted to */
  async runOnce(signal: AbortSignal): Promise<number> {
    let seen = 0;
    for (const reaction of this.#parts.reactions) {
      for (let isMore = true; isMore && !signal.aborted;) {
        const done = await this.#reactToChunk(reaction);
        seen += done.events;
        isMore = done.isMore;
      }
    }
    return seen;
  }

  async #reactToChunk(reaction: Reaction): Promise<{ events: number; isMore: boolean }> {
    const { pool } = this.#parts;
    const after = await readCheckpoint(pool, reaction.name);
    if (after.globalPosition === startOfStore.globalPosition) {
      await makeCheckpoint(pool, reaction.name, 1);
    }
    const chunk = await readChunk(pool, after, reaction.handles, chunkSize);
    if (chunk === undefined) return { events: 0, isMore: false };
    const events = chunk.events as readonly Recorded[];
    for (const event of events) await this.#reactTo(reaction, event);
    // Where another reactor was first it has done, or will do, what follows.
    const isMoved = await moveCheckpoint(pool, reaction.name, after, chunk.end);
    return { events: isMoved ? events.length : 0, isMore: isMoved && chunk.seen === chunkSize };
  }

  async #reactTo(reaction: Reaction, event: Recorded): Promise<void> {
    const { commands, ids, reads } = this.#parts;
    const newId = (name: string) =>
      inOrderOfTime(ids.derived(event.eventId, `${reaction.name} ${name}`), event.recordedAt);
    const execute = (command: Command, place: string) =>
      commands.execute(command, {
        commandId: known(parseCommandId, ids.derived(event.eventId, `${reaction.name} ${place}`)),
        actor: { kind: 'system', name: 'reaction' },
        ip: null,
        correlationId: event.metadata.correlationId,
        causationId: event.eventId,
      });
    for (const [place, command] of (await reaction.react(event, reads, newId)).entries()) {
      const outcome = await execute(command, String(place));
      if (outcome.kind !== 'refused') continue;
      const next = reaction.onRefusal?.(command, outcome.refusal.code);
      if (next !== undefined) await execute(next, `${place} refused`);
    }
  }
}
