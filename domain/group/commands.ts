import type { GroupCreated } from './events.ts';

export type CreateGroup = GroupCreated['data'] & { readonly type: 'CreateGroup' };

export type GroupCommand = CreateGroup;
