/** Actors: the users and platform components that cause changes. */
import type { GroupId, RepositoryId, TokenId, UserId, WebhookId } from './ids.ts';
import type { Scope } from './rights.ts';

export const roles = ['administrator', 'developer', 'operator', 'viewer'] as const;
export type Role = (typeof roles)[number];

export type Actor =
  | {
      readonly kind: 'user';
      readonly userId: UserId;
      readonly email: string;
      /** The API token that authenticated the request. Absent if a session authenticated it. */
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
        | 'updater'
        | 'repositories';
    }
  | { readonly kind: 'webhook'; readonly webhookId: WebhookId; readonly name: string }
  | {
      /** A commit in a Git repository caused the change. */
      readonly kind: 'repository';
      readonly repositoryId: RepositoryId;
      readonly name: string;
      readonly commit: string;
      /** The author of the commit in the format `Name <address>`. */
      readonly author: string;
      /** URL of the commit's page. */
      readonly url: string | null;
    }
  | { readonly kind: 'anonymous' };

/** The API token that a user presented instead of a session. */
export interface TokenGrant {
  readonly tokenId: TokenId;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
}

/** An authenticated user with the rights that the user has now. */
export interface Principal {
  readonly userId: UserId;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly groupIds: readonly GroupId[];
  readonly canAudit: boolean;
  /** The API token, which limits the user's rights. Absent if the user signed in with a session. */
  readonly token?: TokenGrant;
}
