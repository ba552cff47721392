import type { GroupId } from '#domain/kernel/ids.ts';
import type { SecretChange } from '#domain/secret/commands.ts';

export interface SetGroupSecret extends SecretChange {
  readonly type: 'SetGroupSecret';
  readonly groupId: GroupId;
}

export interface DeleteGroupSecret {
  readonly type: 'DeleteGroupSecret';
  readonly groupId: GroupId;
  readonly name: string;
}

export type GroupSecretCommand = SetGroupSecret | DeleteGroupSecret;
