/** API tokens consist of a prefix that secret scanners recognize, followed by 256 random bits. Only the SHA-256 hash is
 *  stored and looked up. An attacker cannot choose the hash, so the lookup time leaks no information about tokens. */
import { createHash, randomBytes } from 'node:crypto';

const prefix = 'orch_';
/** The format of an API token. The random part may begin with `-`. */
export const apiTokenForm = /^orch_[\w-]{43}$/;

export interface NewApiToken {
  readonly text: string;
  /** The SHA-256 hash of the token, in lowercase hexadecimal. */
  readonly hash: string;
}

export function newApiToken(): NewApiToken {
  const text = `${prefix}${randomBytes(32).toString('base64url')}`;
  return { text, hash: sha256(text) };
}

/** Returns the hash of an API token, or undefined if the text does not have the format of a token. */
export function apiTokenHash(text: string): string | undefined {
  return apiTokenForm.test(text) ? sha256(text) : undefined;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
