/** Executes the commands that reactions derive from events. Each reaction has its own checkpoint. Reactions at the same
 *  position read the store and advance together. */
import type { Command, Recorded } from '#domain/aggregates.ts';
import { deriveTimeOrderedId, mustParse, parseCommandId } from '#domain/kernel/ids.ts';
import type { Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { Reaction, ReactionReads } from '#domain/reactions/reaction.ts';
import type pg from 'pg';
import { readChunk } from '../event-store/event-chunks.ts';
import { moveCheckpoints } from './checkpoints.ts';
import { readOn, type AtPlace, type Step } from './store-readers.ts';

const chunkSize = 1_000;
/** Concurrent commands are committed together. */
const maxConcurrent = 128;

export interface ReactorDeps {
  readonly pool: pg.Pool;
  readonly commands: Commands;
  readonly ids: Ids;
  readonly reads: ReactionReads;
  readonly reactions: readonly Reaction[];
}

export class Reactor {
  readonly #deps: ReactorDeps;

  constructor(deps: ReactorDeps) {
    this.#deps = deps;
  }

  /** Reacts to all events recorded since the last call. Two concurrent reactors are harmless. Command IDs are derived
   *  from the events that cause the commands, and a checkpoint moves only if it has not changed since it was read.
   *  @returns the number of processed events
   *  @throws the error of a reaction, after the other reactions have advanced as far as possible */
  async runOnce(signal: AbortSignal): Promise<number> {
    const { pool, reactions } = this.#deps;
    return await readOn(pool, reactions, signal, (those, failed) =>
      this.#reactToChunk(those, failed),
    );
  }

  async #reactToChunk(
    { after, readers: reactions }: AtPlace<Reaction>,
    failed: Map<Reaction, unknown>,
  ): Promise<Step> {
    const { pool } = this.#deps;
    const types = [...new Set(reactions.flatMap(({ handles }) => handles))];
    const chunk = await readChunk(pool, after, types, chunkSize);
    if (chunk === undefined) return { seen: 0, isMore: false };
    const done = new Map<string, number>();
    for (const reaction of reactions) {
      const events = (chunk.events as readonly Recorded[]).filter(({ type }) =>
        reaction.handles.includes(type),
      );
      try {
        for (const event of events) await this.#reactTo(reaction, event);
        done.set(reaction.name, events.length);
      } catch (error) {
        // Only the failed reaction's checkpoint does not advance.
        failed.set(reaction, error);
      }
    }
    // If another reactor has moved the checkpoint, that reactor also processes the next events.
    const moved = await moveCheckpoints(pool, [...done.keys()], after, chunk.end);
    const seen = [...moved].reduce((sum, name) => sum + (done.get(name) ?? 0), 0);
    return { seen, isMore: moved.size > 0 && chunk.seen === chunkSize };
  }

  async #reactTo(reaction: Reaction, event: Recorded): Promise<void> {
    const { commands, ids, reads } = this.#deps;
    const newId = (name: string) =>
      deriveTimeOrderedId(ids.derived(event.eventId, `${reaction.name} ${name}`), event.recordedAt);
    const execute = (command: Command, place: string) =>
      commands.execute(command, {
        commandId: mustParse(
          parseCommandId,
          ids.derived(event.eventId, `${reaction.name} ${place}`),
        ),
        actor: { kind: 'system', name: 'reaction' },
        ip: null,
        correlationId: event.metadata.correlationId,
        causationId: event.eventId,
      });
    const executeOne = async (command: Command, place: number) => {
      const outcome = await execute(command, String(place));
      if (outcome.kind !== 'refused') return;
      const next = reaction.onRefusal?.(command, outcome.refusal.code);
      if (next !== undefined) await execute(next, `${place} refused`);
    };
    const called = await reaction.react(event, reads, newId);
    const width = reaction.inAnyOrder === true ? maxConcurrent : 1;
    for (let place = 0; place < called.length; place += width) {
      const those = called.slice(place, place + width);
      await Promise.all(those.map((command, index) => executeOne(command, place + index)));
    }
  }
}
