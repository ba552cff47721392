/** Events of a group's secrets, in one stream `group_secret-<group id>`. Permanent: never rename a type or change
 *  the meaning of a field. Values are stored only as ciphertext, encrypted with a data key of the group. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { GroupId } from '#domain/kernel/ids.ts';
import type { SecretValue } from '#domain/secret/events.ts';

export type GroupSecretSet = DomainEvent<
  'GroupSecretSet',
  { readonly groupId: GroupId } & SecretValue
>;

export type GroupSecretDeleted = DomainEvent<
  'GroupSecretDeleted',
  { readonly groupId: GroupId; readonly name: string }
>;

export type GroupSecretEvent = GroupSecretSet | GroupSecretDeleted;
