/** Exports and downloads, each in its own stream `disclosure-<id>`. Permanent: never rename a type or change the
 *  meaning of a field. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { DisclosureId } from '#domain/kernel/ids.ts';

/** Recorded before the data is sent, so that every disclosure is on record. */
export type DataDisclosed = DomainEvent<
  'DataDisclosed',
  {
    readonly disclosureId: DisclosureId;
    /** The name of the action in the audit trail, such as `script_exported`. */
    readonly action: string;
    /** Stream ID of the resource; null for the platform. */
    readonly resource: string | null;
    /** The part of the resource, such as the path of a file. */
    readonly detail: string | null;
  }
>;

export type DisclosureEvent = DataDisclosed;
