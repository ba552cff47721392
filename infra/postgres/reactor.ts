/** Carries out what events call for: each reaction reads the store behind its own checkpoint. */
import type { Recorded } from '#domain/aggregates.ts';
import { inOrderOfTime, known, parseCommandId, parseRunId } from '#domain/kernel/ids.ts';
import type { Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { Reaction, ReactionReads } from '#domain/reactions/reaction.ts';
import type pg from 'pg';
import { makeCheckpoint, moveCheckpoint, readCheckpoint } from './checkpoints.ts';
import { readAll } from './event-store.ts';

const batchSize = 200;

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
   *  @returns how many events were looked at */
  async runOnce(signal: AbortSignal): Promise<number> {
    let seen = 0;
    for (const reaction of this.#parts.reactions) {
      await makeCheckpoint(this.#parts.pool, reaction.name, 1);
      for (let batch = batchSize; batch === batchSize && !signal.aborted;) {
        batch = await this.#reactToBatch(reaction);
        seen += batch;
      }
    }
    return seen;
  }

  async #reactToBatch(reaction: Reaction): Promise<number> {
    const { pool } = this.#parts;
    const after = await readCheckpoint(pool, reaction.name);
    const events = (await readAll(pool, after, batchSize)) as readonly Recorded[];
    const last = events.at(-1);
    if (last === undefined) return 0;
    for (const event of events) {
      if (reaction.handles.includes(event.type)) await this.#reactTo(reaction, event);
    }
    // Where another reactor was first it has done, or will do, what follows.
    const moved = await moveCheckpoint(pool, reaction.name, after, last.position);
    return moved ? events.length : 0;
  }

  async #reactTo(reaction: Reaction, event: Recorded): Promise<void> {
    const { commands, ids, reads } = this.#parts;
    const runId = inOrderOfTime(
      ids.derived(event.eventId, `${reaction.name} run`),
      event.recordedAt,
    );
    const called = await reaction.react(event, reads, known(parseRunId, runId));
    for (const [place, command] of called.entries()) {
      const name = `${reaction.name} ${place}`;
      // A refusal is an answer too: the world has moved on and there is nothing to do.
      await commands.execute(command, {
        commandId: known(parseCommandId, ids.derived(event.eventId, name)),
        actor: { kind: 'system', name: 'reaction' },
        ip: null,
        correlationId: event.metadata.correlationId,
        causationId: event.eventId,
      });
    }
  }
}
