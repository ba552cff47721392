/** Events of an error group, in streams `error_group-<id>`. Permanent: never rename a type or change the meaning of a
 *  field. The errors themselves are in the events of runs; these events are decisions about the group. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { ErrorGroupId, RunId, ScriptId } from '#domain/kernel/ids.ts';

export type ErrorGroupResolved = DomainEvent<
  'ErrorGroupResolved',
  {
    readonly errorGroupId: ErrorGroupId;
    /** The first script version without the error; `null`: every run from now on. */
    readonly version: number | null;
    /** The script that the version belongs to. Absent without a version, and in events of old releases. */
    readonly scriptId?: ScriptId;
  }
>;

export type ErrorGroupIgnored = DomainEvent<
  'ErrorGroupIgnored',
  {
    readonly errorGroupId: ErrorGroupId;
    /** RFC 3339; `null`: until a user reopens it. */
    readonly until: string | null;
  }
>;

export type ErrorGroupReopened = DomainEvent<
  'ErrorGroupReopened',
  {
    readonly errorGroupId: ErrorGroupId;
    /** The run in which the error recurred; `null`: a user reopened the group. */
    readonly runId: RunId | null;
  }
>;

export type ErrorGroupEvent = ErrorGroupResolved | ErrorGroupIgnored | ErrorGroupReopened;
