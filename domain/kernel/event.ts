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

/** A fact in the past tense. `type` and the shape of `data` are permanent; a new shape is a new
 *  `schemaVersion` with an upcast on read. */
export interface DomainEvent<Type extends string = string, Data = unknown> {
  readonly type: Type;
  readonly data: Data;
}

/** `<stream type>-<id>`, such as `run-0198…`. */
export type StreamId = `${string}-${string}`;

/** Who caused an event, from where, and what it answers to. */
export interface EventMetadata {
  readonly commandId: CommandId;
  readonly actor: Actor;
  /** Address of the caller, where there was one. */
  readonly ip: string | null;
  /** The first cause's id, shared by everything that followed from it. */
  readonly correlationId: string;
  /** The event that this one answers to, where a reaction made it. */
  readonly causationId: EventId | null;
}

/** The place of an event in the order of the whole store. Readers sort by transaction first:
 *  positions are handed out before their transactions commit, so they alone would show gaps. */
export interface Position {
  readonly transactionId: bigint;
  readonly globalPosition: number;
}

export const startOfStore: Position = { transactionId: 0n, globalPosition: 0 };

/** Whether `one` comes after `other` in the order of the store. */
export function isAfter(one: Position, other: Position): boolean {
  return one.transactionId === other.transactionId
    ? one.globalPosition > other.globalPosition
    : one.transactionId > other.transactionId;
}

/** An event as the store gives it back. */
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

/** An event as it goes to the store. */
export interface NewEvent<Event extends DomainEvent = DomainEvent> {
  readonly eventId: EventId;
  readonly type: Event['type'];
  readonly schemaVersion: number;
  readonly data: Event['data'];
  readonly metadata: EventMetadata;
}
