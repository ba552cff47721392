/** Events of an error group, in streams `error_group-<id>`. Permanent: never rename a type or change the meaning of
 *  a field. The errors themselves are recorded in run events. These events record decisions about the group. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { ErrorGroupId, RunId, ScriptId } from '#domain/kernel/ids.ts';

export type ErrorGroupResolved = DomainEvent<
  'ErrorGroupResolved',
  {
    readonly errorGroupId: ErrorGroupId;
    /** The first script version without the error. `null` means that all later runs are expected to be free of the
     *  error. */
    readonly version: number | null;
    /** The script that the version belongs to. Absent if `version` is null, and in events from old releases. */
    readonly scriptId?: ScriptId;
  }
>;

export type ErrorGroupIgnored = DomainEvent<
  'ErrorGroupIgnored',
  {
    readonly errorGroupId: ErrorGroupId;
    /** RFC 3339. `null` means that the group is ignored until a user reopens it. */
    readonly until: string | null;
  }
>;

export type ErrorGroupReopened = DomainEvent<
  'ErrorGroupReopened',
  {
    readonly errorGroupId: ErrorGroupId;
    /** The run in which the error recurred. `null` if a user reopened the group. */
    readonly runId: RunId | null;
  }
>;

export type ErrorGroupEvent = ErrorGroupResolved | ErrorGroupIgnored | ErrorGroupReopened;
