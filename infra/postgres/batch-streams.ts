/** The streams that a batch of commands writes: as they were, and as the batch leaves them. */
import type { PlatformEvent, Recorded } from '#domain/aggregates.ts';
import { schemaVersionOf } from '#domain/upcasts.ts';
import type { World } from '#domain/kernel/aggregate.ts';
import {
  startOfStore,
  type NewEvent,
  type RecordedEvent,
  type StreamId,
} from '#domain/kernel/event.ts';
import { known, parseEventId } from '#domain/kernel/ids.ts';
import type { CommandContext, Outcome } from '#domain/ports/commands.ts';
import type { StreamAppend } from '#domain/ports/event-store.ts';
import type { Ids } from '#domain/ports/ids.ts';

/** Where the events of one command stand. */
export interface Place {
  readonly streamId: StreamId;
  /** Version of the stream before them. */
  readonly after: number;
  readonly count: number;
}

export class BatchStreams {
  readonly #histories: ReadonlyMap<string, readonly RecordedEvent[]>;
  readonly #added = new Map<StreamId, NewEvent[]>();
  /** Runs that the batch itself has queued, per script. */
  readonly #queued = new Map<string, number>();

  constructor(histories: ReadonlyMap<string, readonly RecordedEvent[]>) {
    this.#histories = histories;
  }

  /** The events of a stream, those included that the batch has added so far. */
  historyOf(streamId: StreamId): readonly RecordedEvent[] {
    const before = this.#histories.get(streamId) ?? [];
    const added = this.#added.get(streamId) ?? [];
    return added.length === 0
      ? before
      : [
          ...before,
          ...added.map((event, index) => ({
            ...event,
            streamId,
            version: before.length + index + 1,
            // Where and when it is recorded shows only once it is; no decision asks for it.
            position: startOfStore,
            recordedAt: new Date(0),
          })),
        ];
  }

  /** Adds what was decided for one command. */
  add(
    streamId: StreamId,
    events: readonly PlatformEvent[],
    context: CommandContext,
    ids: Ids,
  ): Place {
    const { commandId, actor, ip, correlationId, causationId } = context;
    const added = this.#added.get(streamId) ?? [];
    const after = (this.#histories.get(streamId)?.length ?? 0) + added.length;
    for (const { type, data } of events) {
      added.push({
        eventId: known(parseEventId, ids.next()),
        type,
        schemaVersion: schemaVersionOf(type),
        data,
        metadata: { commandId, actor, ip, correlationId, causationId },
      });
    }
    this.#added.set(streamId, added);
    this.#count(events);
    return { streamId, after, count: events.length };
  }

  /** All that is to be appended. */
  appends(): readonly StreamAppend[] {
    return [...this.#added].map(([streamId, events]) => ({
      streamId,
      expectedVersion: this.#histories.get(streamId)?.length ?? 0,
      events,
    }));
  }

  /** The outcome of a command, once everything is recorded. */
  outcomeOf(place: Place, recorded: readonly Recorded[]): Outcome {
    const { streamId, after, count } = place;
    const events = recorded.filter(
      (event) =>
        event.streamId === streamId && event.version > after && event.version <= after + count,
    );
    const last = events.at(-1) ?? this.#histories.get(streamId)?.at(-1);
    return {
      kind: 'accepted',
      events,
      streamId,
      version: after + count,
      position: last?.position ?? startOfStore,
      repeated: false,
    };
  }

  /** The world with what the batch has done so far. A run that it has ended still counts: a slot is
   *  free for the next batch. */
  seenFrom(world: World): World {
    const scripts = new Map<string, ReturnType<World['script']>>();
    return {
      ...world,
      script: async (scriptId) => {
        const asked = scripts.get(scriptId) ?? world.script(scriptId);
        scripts.set(scriptId, asked);
        const facts = await asked;
        return (
          facts && { ...facts, activeRuns: facts.activeRuns + (this.#queued.get(scriptId) ?? 0) }
        );
      },
    };
  }

  #count(events: readonly PlatformEvent[]): void {
    for (const event of events) {
      if (event.type !== 'RunQueued') continue;
      const { scriptId } = event.data;
      this.#queued.set(scriptId, (this.#queued.get(scriptId) ?? 0) + 1);
    }
  }
}
