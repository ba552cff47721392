/** What was exported or downloaded, each time in a stream `disclosure-<id>` of its own. Stored for good: a
 *  type is never renamed and a field never changes its meaning. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { DisclosureId } from '#domain/kernel/ids.ts';

/** Data is about to be sent: it is recorded before, so that nothing leaves unseen. */
export type DataDisclosed = DomainEvent<
  'DataDisclosed',
  {
    readonly disclosureId: DisclosureId;
    /** In words of the audit trail, such as `script_exported`. */
    readonly action: string;
    /** Stream id of what it is of; null where that is the platform. */
    readonly resource: string | null;
    /** What of it, such as the path of a file. */
    readonly detail: string | null;
  }
>;

export type DisclosureEvent = DataDisclosed;
