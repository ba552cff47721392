/** The event feed as a JetStream stream. Each message names its predecessor, and the server rejects a message whose
 *  predecessor is not the last message. The stream therefore has no gaps or duplicates, even if one of several
 *  publishers crashes or hangs. The event ID is also the message ID. */
import type { EventFeed, FeedEnd } from '#domain/ports/event-feed.ts';
import type { RecordedEvent } from '#domain/kernel/event.ts';
import {
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  jetstream,
  jetstreamManager,
  type JetStreamManager,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { feedMessage, streamTypeOf } from './feed-message.ts';
import type { NatsLink } from './nats-link.ts';

const maxPayloadBytes = 256 * 1024;
const keptMs = 7 * 24 * 3_600_000;
const maxKeptBytes = 1024 * 1024 * 1024;
const timeoutMs = 5_000;

export interface NatsFeedOptions {
  readonly link: NatsLink;
  /** The subject prefix of the bus. The stream is named `<prefix>-events`. */
  readonly prefix: string;
  /** Called when a problem occurs, changes or is resolved. */
  readonly onProblem: (error: unknown, problem: string) => void;
}

export class NatsFeed implements EventFeed {
  readonly #options: NatsFeedOptions;
  readonly #stream: string;
  #problem: string | undefined;

  constructor(options: NatsFeedOptions) {
    this.#options = options;
    this.#stream = `${options.prefix}-events`;
  }

  get problem(): string | undefined {
    return this.#options.link.problem ?? this.#problem;
  }

  async end(): Promise<FeedEnd | undefined> {
    const { connection } = this.#options.link;
    if (connection === undefined) return undefined;
    try {
      const options = { timeout: timeoutMs, checkAPI: false };
      const end = await this.#readEnd(await jetstreamManager(connection, options));
      this.#problem = undefined;
      return end;
    } catch (error) {
      this.#note(error);
      return undefined;
    }
  }

  async append(end: FeedEnd, events: readonly RecordedEvent[]): Promise<boolean> {
    const { connection } = this.#options.link;
    if (connection === undefined) return false;
    const stream = jetstream(connection, { timeout: timeoutMs });
    const results = await Promise.allSettled(
      events.map((event, index) =>
        stream.publish(
          `${this.#options.prefix}.feed.${streamTypeOf(event)}.${event.type}`,
          feedMessage(event, maxPayloadBytes),
          {
            msgID: event.eventId,
            expect: { streamName: this.#stream, lastSequence: end.sequence + index },
          },
        ),
      ),
    );
    const failed = results.find((result) => result.status === 'rejected');
    if (failed === undefined) return true;
    if (!isWrongSequence(failed.reason)) this.#note(failed.reason);
    return false;
  }

  async #readEnd({ streams }: JetStreamManager): Promise<FeedEnd> {
    const { state } = await streams.info(this.#stream).catch((error: unknown) => {
      if (isCode(error, JetStreamApiCodes.StreamNotFound)) return this.#makeStream(streams);
      throw error;
    });
    const { last_seq: sequence, messages } = state;
    if (messages === 0) return { sequence, eventId: undefined };
    const last = await streams.getMessage(this.#stream, { seq: sequence });
    return { sequence, eventId: last?.header.get('Nats-Msg-Id') };
  }

  /** Idempotent, because JetStream accepts an identical configuration. */
  #makeStream(streams: JetStreamManager['streams']) {
    return streams.add({
      name: this.#stream,
      subjects: [`${this.#options.prefix}.feed.>`],
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
      discard: DiscardPolicy.Old,
      max_age: nanos(keptMs),
      max_bytes: maxKeptBytes,
    });
  }

  #note(error: unknown): void {
    if (this.#options.link.problem !== undefined) return;
    const problem = `the event feed is waiting: ${error instanceof Error ? error.message : String(error)}`;
    if (problem !== this.#problem) this.#options.onProblem(error, problem);
    this.#problem = problem;
  }
}

function isCode(error: unknown, code: JetStreamApiCodes): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}

function isWrongSequence(error: unknown): boolean {
  return isCode(error, JetStreamApiCodes.StreamWrongLastSequence);
}
