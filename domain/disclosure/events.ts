/** Exports and downloads, each in its own stream `disclosure-<id>`. Permanent: never rename a type or change the
 *  meaning of a field. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { DisclosureId } from '#domain/kernel/ids.ts';

/** An export or download. Recorded before any data is sent, so that no disclosure goes unrecorded. */
export type DataDisclosed = DomainEvent<
  'DataDisclosed',
  {
    readonly disclosureId: DisclosureId;
    /** The action name in the audit trail, such as `script_exported`. */
    readonly action: string;
    /** Stream ID of the resource. Null if the data belongs to the platform as a whole. */
    readonly resource: string | null;
    /** The part of the resource, such as a file path. */
    readonly detail: string | null;
  }
>;

export type DisclosureEvent = DataDisclosed;
