/** Who is at the other end: somebody with an API token, or a program that knows the service's password. What
 *  a token gives is looked up anew for every command, so that revoking it counts at once. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Actor, Principal } from '#domain/kernel/actor.ts';
import {
  mustParse,
  parseGroupId,
  parseTokenId,
  type GroupId,
  type TokenId,
} from '#domain/kernel/ids.ts';
import { mayAnywhere, scopesOf, sees, type Right } from '#domain/kernel/rights.ts';
import type { LiveToken } from '#projections/tokens/queries.ts';
import { apiTokenHash } from '#services/shared/api-tokens.ts';
import { tokenPrincipal } from '#services/shared/principals.ts';

/** What somebody signed in with. */
export type Credential =
  | { readonly kind: 'service' }
  | { readonly kind: 'token'; readonly hash: string };

/** Somebody as of now. The service itself has no principal: it may do all that is served here. */
export interface Caller {
  /** Whose leases are whose: the token's id, or `service`. */
  readonly key: string;
  readonly actor: Actor;
  readonly principal: Principal | undefined;
}

export interface CallersParts {
  /** Without it, only tokens are taken. */
  readonly password: string | undefined;
  /** An API token that counts, by its hash, with its owner as of now. */
  readonly findToken: (hash: string) => Promise<LiveToken | undefined>;
  readonly tokenUses: { note(tokenId: TokenId): void };
}

const service: Caller = {
  key: 'service',
  actor: { kind: 'system', name: 'queue' },
  principal: undefined,
};

export class Callers {
  readonly #parts: CallersParts;
  readonly #passwordHash: Buffer | undefined;

  constructor(parts: CallersParts) {
    this.#parts = parts;
    this.#passwordHash = parts.password === undefined ? undefined : sha256(parts.password);
  }

  /** What a password or a token lets in; `undefined` for nobody. */
  async credentialOf(given: Buffer): Promise<Credential | undefined> {
    if (this.#passwordHash !== undefined && timingSafeEqual(sha256(given), this.#passwordHash)) {
      return { kind: 'service' };
    }
    const hash = apiTokenHash(given.toString('latin1'));
    if (hash === undefined) return undefined;
    const credential: Credential = { kind: 'token', hash };
    return (await this.callerOf(credential)) === undefined ? undefined : credential;
  }

  /** Whom a credential stands for now; `undefined` once it counts no longer. */
  async callerOf(credential: Credential): Promise<Caller | undefined> {
    if (credential.kind === 'service') return service;
    const token = await this.#parts.findToken(credential.hash);
    if (token === undefined) return undefined;
    const principal = tokenPrincipal(token);
    const tokenId = mustParse(parseTokenId, token.token_id);
    this.#parts.tokenUses.note(tokenId);
    const { userId, email } = principal;
    const actor: Actor = {
      kind: 'user',
      userId,
      email,
      token: { tokenId, name: token.token_name },
    };
    return { key: tokenId, actor, principal };
  }
}

/** Whether the caller holds `right` in any group at all. */
export function may({ principal }: Caller, right: Right): boolean {
  return principal === undefined || mayAnywhere(principal, right);
}

/** Whether what belongs to a group is there for the caller. */
export function isIn({ principal }: Caller, groupId: string): boolean {
  return principal === undefined || sees(principal, mustParse(parseGroupId, groupId));
}

/** The groups that the caller sees; `null` for all. */
export function groupsOf({ principal }: Caller): readonly GroupId[] | null {
  return principal === undefined || principal.role === 'administrator' ? null : principal.groupIds;
}

/** What a token lacks without `right`, in words. */
export function missing(right: Right): string {
  return `requires a token with the scope ${scopesOf[right].join(' or ')}, whose owner's role allows it`;
}

function sha256(text: string | Buffer): Buffer {
  return createHash('sha256').update(text).digest();
}
