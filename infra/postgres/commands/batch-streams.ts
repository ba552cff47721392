/** The streams that a batch of commands writes, before and after the batch. */
import type { CommandBinding, PlatformEvent, Recorded } from '#domain/aggregates.ts';
import { lastOf, noHistory, versionOf, type History, type Snapshot } from '#domain/snapshots.ts';
import { schemaVersionOf } from '#domain/upcasts.ts';
import type { DecisionReads } from '#domain/kernel/aggregate.ts';
import { startOfStore, type NewEvent, type StreamId } from '#domain/kernel/event.ts';
import { mustParse, parseEventId } from '#domain/kernel/ids.ts';
import type { CommandContext, Outcome } from '#domain/ports/commands.ts';
import type { StreamAppend } from '#domain/ports/event-store.ts';
import type { Ids } from '#domain/ports/ids.ts';

/** The position of a command's events in the batch. */
export interface Place {
  readonly streamId: StreamId;
  /** The version of the stream before the command's events. */
  readonly after: number;
  readonly count: number;
}

const scriptStream = 'script-';
const scheduleStream = 'schedule-';

export class BatchStreams {
  readonly #histories: ReadonlyMap<string, History>;
  readonly #bindings: ReadonlyMap<string, Pick<CommandBinding, 'snapshots'>>;
  readonly #added = new Map<StreamId, NewEvent[]>();
  /** Runs added by this batch, by script. */
  readonly #runs = new Map<string, AddedRuns>();

  /** @param bindings the bindings of the commands, by the stream that they write */
  constructor(
    histories: ReadonlyMap<string, History>,
    bindings: ReadonlyMap<string, Pick<CommandBinding, 'snapshots'>>,
  ) {
    this.#histories = histories;
    this.#bindings = bindings;
  }

  /** Returns a stream with the events that the batch has added so far. */
  historyOf(streamId: StreamId): History {
    const before = this.#before(streamId);
    const added = this.#added.get(streamId) ?? [];
    if (added.length === 0) return before;
    const version = versionOf(before);
    const events = added.map((event, index) => ({
      ...event,
      streamId,
      version: version + index + 1,
      // The position and time are assigned when the events are recorded. Decisions do not read them.
      position: startOfStore,
      recordedAt: new Date(0),
    }));
    return { ...before, events: [...before.events, ...events] };
  }

  /** Returns the snapshots that are due after the events were recorded. */
  snapshotsDue(recorded: readonly Recorded[]): readonly Snapshot[] {
    return [...this.historiesAfter(recorded)].flatMap(
      ([streamId, history]) => this.#bindings.get(streamId)?.snapshots(history) ?? [],
    );
  }

  /** Returns the written streams, including the recorded events. */
  historiesAfter(recorded: readonly Recorded[]): ReadonlyMap<StreamId, History> {
    const streams = Map.groupBy(recorded, (event) => event.streamId);
    return new Map(
      [...streams].map(([streamId, added]) => {
        const before = this.#before(streamId);
        return [streamId, { ...before, events: [...before.events, ...added] }];
      }),
    );
  }

  #before(streamId: StreamId): History {
    return this.#histories.get(streamId) ?? noHistory;
  }

  /** Adds the events of one command. */
  add(
    streamId: StreamId,
    events: readonly PlatformEvent[],
    context: CommandContext,
    ids: Ids,
  ): Place {
    const { commandId, actor, ip, correlationId, causationId } = context;
    const added = this.#added.get(streamId) ?? [];
    const after = versionOf(this.#before(streamId)) + added.length;
    for (const { type, data } of events) {
      added.push({
        eventId: mustParse(parseEventId, ids.next()),
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

  /** Returns all events to append. */
  appends(): readonly StreamAppend[] {
    return [...this.#added].map(([streamId, events]) => ({
      streamId,
      expectedVersion: versionOf(this.#before(streamId)),
      events,
    }));
  }

  /** Returns the events as they will be recorded, except for their positions, which are not known yet. */
  events(recordedAt: Date): readonly Recorded[] {
    return this.appends().flatMap(({ streamId, expectedVersion, events }) =>
      events.map(
        (event, index) =>
          ({
            ...event,
            streamId,
            version: expectedVersion + index + 1,
            position: startOfStore,
            recordedAt,
          }) as Recorded,
      ),
    );
  }

  /** Returns the events of a stream before the batch, or `undefined` if a snapshot replaces some events. */
  pastOf(streamId: StreamId): readonly Recorded[] | undefined {
    const { from, events } = this.#before(streamId);
    return from === undefined ? (events as readonly Recorded[]) : undefined;
  }

  /** Returns the outcome of a command after its events were recorded. */
  outcomeOf(place: Place, recorded: readonly Recorded[]): Outcome {
    const { streamId, after, count } = place;
    const events = recorded.filter(
      (event) =>
        event.streamId === streamId && event.version > after && event.version <= after + count,
    );
    const last = events.at(-1) ?? lastOf(this.#before(streamId));
    return {
      kind: 'accepted',
      events,
      streamId,
      version: after + count,
      position: last?.position ?? startOfStore,
      repeated: false,
    };
  }

  /**
   * Wraps the reads so that they include the changes of the batch so far. A run that finished in this batch still
   * counts as active, because its slot is released only for the next batch.
   */
  seenFrom(reads: DecisionReads): DecisionReads {
    return {
      ...reads,
      script: async (scriptId) => {
        const facts = await reads.script(scriptId);
        const { active, waiting } = this.#runsOf(scriptId);
        return (
          facts && {
            ...facts,
            activeRuns: facts.activeRuns + active,
            waitingRuns: facts.waitingRuns + waiting,
          }
        );
      },
    };
  }

  #runsOf(scriptId: string): AddedRuns {
    return this.#runs.get(scriptId) ?? { active: 0, waiting: 0 };
  }

  #count(events: readonly PlatformEvent[]): void {
    // A run with a pending approval does not count as a waiting run.
    const isPending = events.some(({ type }) => type === 'RunApprovalRequested');
    for (const { type, data } of events) {
      if (type !== 'RunQueued' && type !== 'RunReleased') continue;
      if (isPending && type === 'RunQueued') continue;
      const { active, waiting } = this.#runsOf(data.scriptId);
      const waits = type === 'RunQueued' && data.waiting === true;
      this.#runs.set(
        data.scriptId,
        waits ? { active, waiting: waiting + 1 } : { active: active + 1, waiting },
      );
    }
  }
}

/** Starts the guards' reads immediately and returns reads that reuse their results. */
export function prefetchReads(reads: DecisionReads, guards: readonly StreamId[]): DecisionReads {
  const script = remembered(reads.script);
  const schedule = remembered(reads.schedule);
  for (const guard of guards) {
    // Callers that await the read receive its error.
    if (guard.startsWith(scriptStream)) script(guard.slice(scriptStream.length)).catch(ignore);
    if (guard.startsWith(scheduleStream)) {
      schedule(guard.slice(scheduleStream.length)).catch(ignore);
    }
  }
  return { ...reads, script, schedule };
}

/** Thrown when a command requires a read in a batch that is decided without reads. */
export class UnexpectedRead extends Error {
  constructor() {
    super('the command needs a read under the locks');
  }
}

/** Decision reads that always throw. */
export const unexpectedReads = new Proxy({} as DecisionReads, {
  get: () => () => Promise.reject(new UnexpectedRead()),
});

/** A script's runs that became active or waiting in this batch. */
interface AddedRuns {
  readonly active: number;
  readonly waiting: number;
}

/** Caches the result of `ask` for each ID. */
function remembered<Answer>(ask: (id: string) => Promise<Answer>): (id: string) => Promise<Answer> {
  const answers = new Map<string, Promise<Answer>>();
  return (id) => {
    const answer = answers.get(id) ?? ask(id);
    answers.set(id, answer);
    return answer;
  };
}

function ignore(): void {
  // Callers that await the result handle the rejection.
}
