/** Events and the envelopes that carry them to and from the store. */
import type { Actor } from './actor.ts';
import type { CommandId, EventId } from './ids.ts';

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** A fact in the past tense. `type` and the shape of `data` are permanent. A changed shape gets a new
 *  `schemaVersion` and an upcast that runs on read. */
export interface DomainEvent<Type extends string = string, Data = unknown> {
  readonly type: Type;
  readonly data: Data;
}

/** `<stream type>-<id>`, such as `run-0198…`. */
export type StreamId = `${string}-${string}`;

/** The actor and the cause of an event. */
export interface EventMetadata {
  readonly commandId: CommandId;
  readonly actor: Actor;
  /** IP address of the caller, if known. */
  readonly ip: string | null;
  /** The ID of the original cause, shared by all events that result from it. */
  readonly correlationId: string;
  /** The event that caused this one, if a reaction recorded it. */
  readonly causationId: EventId | null;
}

/** The position of an event in the order of the whole store. Readers sort by transaction first: Postgres assigns
 *  positions before transactions commit, so a reader that used only positions could skip events. */
export interface Position {
  readonly transactionId: bigint;
  readonly globalPosition: number;
}

export const startOfStore: Position = { transactionId: 0n, globalPosition: 0 };

/** Whether `one` is later than `other` in the order of the store. */
export function isAfter(one: Position, other: Position): boolean {
  return one.transactionId === other.transactionId
    ? one.globalPosition > other.globalPosition
    : one.transactionId > other.transactionId;
}

/** An event as read from the store. */
export interface RecordedEvent<Event extends DomainEvent = DomainEvent> {
  readonly position: Position;
  readonly streamId: StreamId;
  /** 1 for the first event of its stream. */
  readonly version: number;
  readonly eventId: EventId;
  readonly type: Event['type'];
  readonly schemaVersion: number;
  readonly data: Event['data'];
  readonly metadata: EventMetadata;
  readonly recordedAt: Date;
}

/** An event to append. */
export interface NewEvent<Event extends DomainEvent = DomainEvent> {
  readonly eventId: EventId;
  readonly type: Event['type'];
  readonly schemaVersion: number;
  readonly data: Event['data'];
  readonly metadata: EventMetadata;
}
