import type { GroupId } from '#domain/kernel/ids.ts';
import type { GroupCreated, GroupDeleted } from './events.ts';

/** The name, color and icon of a group. */
export type GroupLook = Omit<GroupCreated['data'], 'groupId'>;

export type CreateGroup = GroupCreated['data'] & { readonly type: 'CreateGroup' };

export interface ChangeGroup {
  readonly type: 'ChangeGroup';
  readonly groupId: GroupId;
  /** The settings to change. Settings that are absent keep their values. */
  readonly changes: Partial<GroupLook>;
}

export type DeleteGroup = GroupDeleted['data'] & { readonly type: 'DeleteGroup' };

export type GroupCommand = CreateGroup | ChangeGroup | DeleteGroup;
