/** Authenticates clients with an API token or the service's password. A token's permissions are read again for every
 *  command, so that a revocation takes effect immediately. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Actor, Principal } from '#domain/kernel/actor.ts';
import {
  mustParse,
  parseGroupId,
  parseTokenId,
  type GroupId,
  type TokenId,
} from '#domain/kernel/ids.ts';
import { hasRightAnywhere, scopesOf, canSeeGroup, type Right } from '#domain/kernel/rights.ts';
import type { LiveToken } from '#projections/tokens/queries.ts';
import { apiTokenHash } from '#services/shared/api-tokens.ts';
import { tokenPrincipal } from '#services/shared/principals.ts';

/** The credential with which a client has signed in. */
export type Credential =
  | { readonly kind: 'service' }
  | { readonly kind: 'token'; readonly hash: string };

/** The caller of a command, with its current permissions. A client that used the service's password has no principal
 *  and may use every command. */
export interface Caller {
  /** Identifies the caller as a lease holder: the token's ID, or `service`. */
  readonly key: string;
  readonly actor: Actor;
  readonly principal: Principal | undefined;
}

export interface CallersDeps {
  /** The service's password; if undefined, only tokens are accepted. */
  readonly password: string | undefined;
  /** Finds a valid API token and its current owner by the token's hash. */
  readonly findToken: (hash: string) => Promise<LiveToken | undefined>;
  readonly tokenUses: { note(tokenId: TokenId): void };
}

const service: Caller = {
  key: 'service',
  actor: { kind: 'system', name: 'queue' },
  principal: undefined,
};

export class Callers {
  readonly #deps: CallersDeps;
  readonly #passwordHash: Buffer | undefined;

  constructor(deps: CallersDeps) {
    this.#deps = deps;
    this.#passwordHash = deps.password === undefined ? undefined : sha256(deps.password);
  }

  /** Returns the credential for a password or token, or `undefined` if it is invalid. */
  async credentialOf(given: Buffer): Promise<Credential | undefined> {
    if (this.#passwordHash !== undefined && timingSafeEqual(sha256(given), this.#passwordHash)) {
      return { kind: 'service' };
    }
    const hash = apiTokenHash(given.toString('latin1'));
    if (hash === undefined) return undefined;
    const credential: Credential = { kind: 'token', hash };
    return (await this.callerOf(credential)) === undefined ? undefined : credential;
  }

  /** Returns the caller of a credential, or `undefined` if the credential is no longer valid. */
  async callerOf(credential: Credential): Promise<Caller | undefined> {
    if (credential.kind === 'service') return service;
    const token = await this.#deps.findToken(credential.hash);
    if (token === undefined) return undefined;
    const principal = tokenPrincipal(token);
    const tokenId = mustParse(parseTokenId, token.token_id);
    this.#deps.tokenUses.note(tokenId);
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

/** Whether the caller has a right in any group. */
export function may({ principal }: Caller, right: Right): boolean {
  return principal === undefined || hasRightAnywhere(principal, right);
}

/** Whether the caller can see the resources of a group. */
export function isIn({ principal }: Caller, groupId: string): boolean {
  return principal === undefined || canSeeGroup(principal, mustParse(parseGroupId, groupId));
}

/** Returns the groups that the caller can see, or `null` for all groups. */
export function groupsOf({ principal }: Caller): readonly GroupId[] | null {
  return principal === undefined || principal.role === 'administrator' ? null : principal.groupIds;
}

/** Returns the error message for a token that lacks a right. */
export function missing(right: Right): string {
  return `requires a token with the scope ${scopesOf[right].join(' or ')}, whose owner's role allows it`;
}

function sha256(text: string | Buffer): Buffer {
  return createHash('sha256').update(text).digest();
}
