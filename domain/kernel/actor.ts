/** Who acts: a person, or a part of the platform. */
import type { GroupId, TokenId, UserId, WebhookId } from './ids.ts';
import type { Scope } from './rights.ts';

export const roles = ['administrator', 'developer', 'operator', 'viewer'] as const;
export type Role = (typeof roles)[number];

export type Actor =
  | {
      readonly kind: 'user';
      readonly userId: UserId;
      readonly email: string;
      /** The API token that they used. Absent: they signed in. */
      readonly token?: { readonly tokenId: TokenId; readonly name: string };
    }
  | {
      readonly kind: 'system';
      readonly name:
        | 'setup'
        | 'runtime'
        | 'scheduler'
        | 'reaction'
        | 'queue'
        | 'restore'
        | 'console'
        | 'updater';
    }
  | { readonly kind: 'webhook'; readonly webhookId: WebhookId; readonly name: string }
  | { readonly kind: 'anonymous' };

/** An API token that somebody uses in place of a sign-in. */
export interface TokenGrant {
  readonly tokenId: TokenId;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
}

/** A signed-in person with the rights of this moment. */
export interface Principal {
  readonly userId: UserId;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly groupIds: readonly GroupId[];
  readonly canAudit: boolean;
  /** It narrows what they may do. Absent: they signed in. */
  readonly token?: TokenGrant;
}
