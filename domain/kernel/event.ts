/** Events, and the metadata that the store records with them. */
import type { Actor } from './actor.ts';
import type { CommandId, EventId } from './ids.ts';

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** A fact, named in the past tense. `type` and the shape of `data` are permanent. If the shape must change,
 *  increment `schemaVersion` and add an upcast, which converts older events on read. */
export interface DomainEvent<Type extends string = string, Data = unknown> {
  readonly type: Type;
  readonly data: Data;
}

/** A stream ID in the format `<stream type>-<id>`, such as `run-0198…`. */
export type StreamId = `${string}-${string}`;

/** The origin of an event: the command, the actor and the cause. */
export interface EventMetadata {
  readonly commandId: CommandId;
  readonly actor: Actor;
  /** The caller's IP address, if known. */
  readonly ip: string | null;
  /** The ID of the original cause. All events that result from this cause have the same correlation ID. */
  readonly correlationId: string;
  /** The event to which a reaction responded, if a reaction caused this event. */
  readonly causationId: EventId | null;
}

/** An event's position in the store. Readers sort by transaction first. Postgres assigns global positions before
 *  transactions commit, so a reader that sorted only by global position could skip events. */
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

/** An event that was read from the store. */
export interface RecordedEvent<Event extends DomainEvent = DomainEvent> {
  readonly position: Position;
  readonly streamId: StreamId;
  /** The event's number in its stream, starting at 1. */
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
