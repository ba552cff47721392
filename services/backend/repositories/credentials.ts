/** Encrypts and decrypts a repository's credential and webhook secret. */
import { createHash, randomBytes } from 'node:crypto';
import type { GitAccess } from '#domain/ports/git.ts';
import type { Credential, RepositoryHook } from '#domain/repository/repository.ts';
import type { Vault } from '#infra/secrets/vault.ts';
import type { Static } from 'typebox';
import type { CredentialInput } from './schema.ts';

const placeOf = (repositoryId: string, name: 'credential' | 'hook') => ({
  scriptId: repositoryId,
  name,
  version: 1,
});

/** @throws UnreadableSecret if the repository's data key is encrypted with another master key */
export async function sealCredential(
  vault: Vault,
  repositoryId: string,
  given: Static<typeof CredentialInput> | null,
): Promise<Credential | null> {
  if (given === null) return null;
  const place = placeOf(repositoryId, 'credential');
  if (given.kind === 'token') {
    const { username = 'git', token } = given;
    return { kind: 'token', username, sealed: await vault.seal(place, token) };
  }
  const sealed = await vault.seal(place, given.private_key);
  return { kind: 'ssh_key', knownHosts: given.known_hosts, sealed };
}

/** @throws UnreadableSecret */
export async function openCredential(
  vault: Vault,
  repositoryId: string,
  credential: Credential | null,
): Promise<GitAccess | null> {
  if (credential === null) return null;
  const secret = await vault.open(placeOf(repositoryId, 'credential'), credential.sealed);
  return credential.kind === 'token'
    ? { kind: 'token', username: credential.username, token: secret }
    : { kind: 'ssh_key', privateKey: secret, knownHosts: credential.knownHosts };
}

export interface NewHook {
  readonly hook: RepositoryHook;
  /** The webhook's token and secret, which are shown once. */
  readonly token: string;
  readonly secret: string;
}

/** @throws UnreadableSecret */
export async function newHook(vault: Vault, repositoryId: string): Promise<NewHook> {
  const token = `ght_${randomBytes(32).toString('base64url')}`;
  const secret = randomBytes(32).toString('base64url');
  const sealed = await vault.seal(placeOf(repositoryId, 'hook'), secret);
  return { hook: { tokenHash: hookTokenHash(token), sealed }, token, secret };
}

/** @throws UnreadableSecret */
export async function openHookSecret(
  vault: Vault,
  repositoryId: string,
  { sealed }: RepositoryHook,
): Promise<string> {
  return await vault.open(placeOf(repositoryId, 'hook'), sealed);
}

/** The hash by which a token is looked up. Callers cannot choose the hash, so the lookup's duration reveals nothing. */
export function hookTokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
