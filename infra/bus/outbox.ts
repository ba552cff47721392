/** Batches messages while earlier messages are being sent. Identical wake-ups are coalesced. */
import type { BusMessage } from '#domain/ports/bus.ts';

const maxWaiting = 10_000;
const maxWaitingBytes = 16 * 1024 * 1024;

/** Pending messages, keyed by their serialized text. */
export type Payloads = ReadonlyMap<string, BusMessage>;

export interface OutboxOptions {
  /** A message larger than this is sent without its items. */
  readonly maxPayloadBytes: number;
  /** Sends the batched messages.
   *  @throws if sending fails; the messages are not sent again */
  readonly send: (payloads: Payloads) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

export class Outbox {
  readonly #options: OutboxOptions;
  #waiting = new Map<string, BusMessage>();
  #waitingBytes = 0;
  #sending: Promise<void> | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Sends a message immediately, or adds it to the next batch if messages are being sent. If the buffer is full, the
   *  message is dropped; its subscribers then wait for their next poll. */
  add(message: BusMessage): void {
    const payload = payloadOf(message, this.#options.maxPayloadBytes);
    if (this.#waiting.size >= maxWaiting || this.#waitingBytes >= maxWaitingBytes) return;
    if (!this.#waiting.has(payload)) this.#waitingBytes += payload.length;
    this.#waiting.set(payload, message);
    this.#sending ??= this.#send();
  }

  /** Resolves when no send is in progress. */
  async settled(): Promise<void> {
    await this.#sending;
  }

  async #send(): Promise<void> {
    // Waits for one turn of the event loop, so that concurrent messages are batched.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const payloads = this.#waiting;
      this.#waiting = new Map();
      this.#waitingBytes = 0;
      try {
        await this.#options.send(payloads);
      } catch (error) {
        this.#options.onError(error);
      }
    }
    this.#sending = undefined;
  }
}

/** Returns the message as text, without its items if the text would be too large. */
export function payloadOf(message: BusMessage, maxPayloadBytes: number): string {
  const whole = JSON.stringify(message);
  if (message.topic !== 'log' || Buffer.byteLength(whole) <= maxPayloadBytes) return whole;
  const { items: _, ...announced } = message;
  return JSON.stringify(announced);
}
