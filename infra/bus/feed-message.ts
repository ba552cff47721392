/** Converts an event to a message of the event feed. */
import type { RecordedEvent } from '#domain/kernel/event.ts';

/** Types of streams whose events are published with their data. Events about users, sessions, tokens, webhooks and
 *  secrets contain hashes and ciphertext, which must stay in the database. */
const told: ReadonlySet<string> = new Set([
  'script',
  'run',
  'schedule',
  'group',
  'notice',
  'system',
]);

export function streamTypeOf({ streamId }: RecordedEvent): string {
  return streamId.slice(0, streamId.indexOf('-'));
}

/** Returns the message as JSON text. Omits `data` if it must not leave the database, or if the text would exceed
 *  `maxBytes`. */
export function feedMessage(event: RecordedEvent, maxBytes: number): string {
  const { metadata, position, recordedAt } = event;
  const envelope = {
    event_id: event.eventId,
    type: event.type,
    schema_version: event.schemaVersion,
    stream_id: event.streamId,
    version: event.version,
    position: position.globalPosition,
    time: recordedAt.toISOString(),
    actor: metadata.actor,
    correlation_id: metadata.correlationId,
    causation_id: metadata.causationId,
  };
  if (!told.has(streamTypeOf(event))) return JSON.stringify(envelope);
  const whole = JSON.stringify({ ...envelope, data: event.data });
  return Buffer.byteLength(whole) <= maxBytes ? whole : JSON.stringify(envelope);
}
