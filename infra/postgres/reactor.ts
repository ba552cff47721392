/** Carries out what events call for. Each reaction has a checkpoint of its own; those that are at the same place
 *  read the store, and move, together. */
import type { Command, Recorded } from '#domain/aggregates.ts';
import { startOfStore, type Position } from '#domain/kernel/event.ts';
import { inOrderOfTime, known, parseCommandId } from '#domain/kernel/ids.ts';
import type { Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { Reaction, ReactionReads } from '#domain/reactions/reaction.ts';
import type pg from 'pg';
import { makeCheckpoint, moveCheckpoints, readCheckpoints } from './checkpoints.ts';
import { readChunk } from './event-chunks.ts';

const chunkSize = 1_000;

export interface ReactorParts {
  readonly pool: pg.Pool;
  readonly commands: Commands;
  readonly ids: Ids;
  readonly reads: ReactionReads;
  readonly reactions: readonly Reaction[];
}

/** Reactions that have come as far as each other. */
interface AtPlace {
  readonly after: Position;
  readonly reactions: Reaction[];
}

export class Reactor {
  readonly #parts: ReactorParts;

  constructor(parts: ReactorParts) {
    this.#parts = parts;
  }

  /** Reacts to everything that was recorded since. Two reactors at once do no harm: the commands'
   *  ids are made from their causes, and a checkpoint moves only from where it was read.
   *  @returns how many events were reacted to
   *  @throws what a reaction has thrown; the others are as far as they could come */
  async runOnce(signal: AbortSignal): Promise<number> {
    let seen = 0;
    for (let isMore = true; isMore && !signal.aborted;) {
      isMore = false;
      for (const together of await this.#byPlace()) {
        if (signal.aborted) break;
        const done = await this.#reactToChunk(together);
        seen += done.events;
        isMore ||= done.isMore;
      }
    }
    return seen;
  }

  /** The reactions by their places. Nearly always all are at the same. */
  async #byPlace(): Promise<readonly AtPlace[]> {
    const { pool, reactions } = this.#parts;
    const places = await readCheckpoints(
      pool,
      reactions.map(({ name }) => name),
    );
    const found: AtPlace[] = [];
    for (const reaction of reactions) {
      const after = places.get(reaction.name) ?? startOfStore;
      if (!places.has(reaction.name)) await makeCheckpoint(pool, reaction.name, 1);
      const those = found.find((one) => isSame(one.after, after));
      if (those === undefined) found.push({ after, reactions: [reaction] });
      else those.reactions.push(reaction);
    }
    return found;
  }

  async #reactToChunk({ after, reactions }: AtPlace): Promise<{ events: number; isMore: boolean }> {
    const { pool } = this.#parts;
    const types = [...new Set(reactions.flatMap(({ handles }) => handles))];
    const chunk = await readChunk(pool, after, types, chunkSize);
    if (chunk === undefined) return { events: 0, isMore: false };
    const done = new Map<string, number>();
    const errors: unknown[] = [];
    for (const reaction of reactions) {
      const events = (chunk.events as readonly Recorded[]).filter(({ type }) =>
        reaction.handles.includes(type),
      );
      try {
        for (const event of events) await this.#reactTo(reaction, event);
        done.set(reaction.name, events.length);
      } catch (error) {
        // It alone stays where it is.
        errors.push(error);
      }
    }
    // Where another reactor was first it has done, or will do, what follows.
    const moved = await moveCheckpoints(pool, [...done.keys()], after, chunk.end);
    if (errors.length > 0) throw errors[0];
    const events = [...moved].reduce((sum, name) => sum + (done.get(name) ?? 0), 0);
    return { events, isMore: moved.size > 0 && chunk.seen === chunkSize };
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

function isSame(one: Position, other: Position): boolean {
  return one.transactionId === other.transactionId && one.globalPosition === other.globalPosition;
}
