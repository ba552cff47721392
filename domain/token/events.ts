/** Facts of an API token, in streams `token-<id>`. Stored for good: a type is never renamed and a field
 *  never changes its meaning. The token itself is here as a hash only. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { TokenId, UserId } from '#domain/kernel/ids.ts';
import type { Scope } from '#domain/kernel/rights.ts';

export type TokenIssued = DomainEvent<
  'TokenIssued',
  {
    readonly tokenId: TokenId;
    /** Its owner: it may never do more than they may. */
    readonly userId: UserId;
    readonly name: string;
    readonly scopes: readonly Scope[];
    /** SHA-256 of the token, lower-case hex. */
    readonly tokenHash: string;
    /** RFC 3339; null: it does not expire. */
    readonly expiresAt: string | null;
  }
>;

export type TokenRevoked = DomainEvent<'TokenRevoked', { readonly tokenId: TokenId }>;

export type TokenEvent = TokenIssued | TokenRevoked;
