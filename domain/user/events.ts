/** Facts of a person's account, in streams `user-<id>`. Stored for good: a type is never renamed and
 *  a field never changes its meaning. A password's hash is kept apart; only its id is here. */
import type { Role } from '#domain/kernel/actor.ts';
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { GroupId, UserId } from '#domain/kernel/ids.ts';

export type UserCreated = DomainEvent<
  'UserCreated',
  {
    readonly userId: UserId;
    /** Lower case; unique among all accounts. */
    readonly email: string;
    readonly name: string;
    readonly role: Role;
    readonly groupIds: readonly GroupId[];
    readonly canAudit: boolean;
    readonly credentialId: string;
  }
>;

export type UserEvent = UserCreated;
