/** Who acts: a person, or a part of the platform. */
import type { GroupId, UserId } from './ids.ts';

export const roles = ['administrator', 'developer', 'operator', 'viewer'] as const;
export type Role = (typeof roles)[number];

export type Actor =
  | { readonly kind: 'user'; readonly userId: UserId; readonly email: string }
  | { readonly kind: 'system'; readonly name: 'setup' | 'runtime' | 'scheduler' | 'reaction' }
  | { readonly kind: 'anonymous' };

/** A signed-in person with the rights of this moment. */
export interface Principal {
  readonly userId: UserId;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly groupIds: readonly GroupId[];
  readonly canAudit: boolean;
}
