import type { UserCreated } from './events.ts';

export type CreateUser = UserCreated['data'] & { readonly type: 'CreateUser' };

export type UserCommand = CreateUser;
