/** Events of a group of scripts, in streams `group-<id>`. Permanent: never rename a type or change the meaning of
 *  a field. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { GroupId } from '#domain/kernel/ids.ts';

export type GroupCreated = DomainEvent<
  'GroupCreated',
  {
    readonly groupId: GroupId;
    readonly name: string;
    /** A color in the format `#rrggbb`. */
    readonly color: string;
    /** Name of an icon in the dashboard's icon set. */
    readonly icon: string;
  }
>;

/** Settings were changed. Settings that are absent keep their values. */
export type GroupChanged = DomainEvent<
  'GroupChanged',
  Partial<Omit<GroupCreated['data'], 'groupId'>> & { readonly groupId: GroupId }
>;

export type GroupDeleted = DomainEvent<'GroupDeleted', { readonly groupId: GroupId }>;

export type GroupEvent = GroupCreated | GroupChanged | GroupDeleted;
