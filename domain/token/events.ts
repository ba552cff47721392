/** Events of an API token, in streams `token-<id>`. Permanent: never rename a type or change the meaning of a
 *  field. Only a hash of the token is stored. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { TokenId, UserId } from '#domain/kernel/ids.ts';
import type { Scope } from '#domain/kernel/rights.ts';

export type TokenIssued = DomainEvent<
  'TokenIssued',
  {
    readonly tokenId: TokenId;
    /** The token's owner. A token never has more rights than its owner. */
    readonly userId: UserId;
    readonly name: string;
    readonly scopes: readonly Scope[];
    /** SHA-256 of the token, in lower-case hex. */
    readonly tokenHash: string;
    /** RFC 3339. Null if the token does not expire. */
    readonly expiresAt: string | null;
  }
>;

export type TokenRevoked = DomainEvent<'TokenRevoked', { readonly tokenId: TokenId }>;

export type TokenEvent = TokenIssued | TokenRevoked;
