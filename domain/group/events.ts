/** Facts of a group of scripts, in streams `group-<id>`. Stored for good: a type is never renamed and
 *  a field never changes its meaning. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { GroupId } from '#domain/kernel/ids.ts';

export type GroupCreated = DomainEvent<
  'GroupCreated',
  {
    readonly groupId: GroupId;
    readonly name: string;
    /** `#rrggbb`. */
    readonly color: string;
    /** Name of an icon of the dashboard's icon set. */
    readonly icon: string;
  }
>;

export type GroupEvent = GroupCreated;
