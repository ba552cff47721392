/** API tokens as text: a prefix that secret scanners recognize, and 256 random bits. Only the SHA-256 is stored and
 *  looked up: an attacker cannot choose the hash, so the duration of the lookup reveals nothing about any token. */
import { createHash, randomBytes } from 'node:crypto';

const prefix = 'orch_';
/** The format of the whole text. The random part may begin with `-`. */
export const apiTokenForm = /^orch_[\w-]{43}$/;

export interface NewApiToken {
  readonly text: string;
  /** SHA-256 of the text, lower-case hex. */
  readonly hash: string;
}

export function newApiToken(): NewApiToken {
  const text = `${prefix}${randomBytes(32).toString('base64url')}`;
  return { text, hash: sha256(text) };
}

/** The hash of a text that has the format of an API token. */
export function apiTokenHash(text: string): string | undefined {
  return apiTokenForm.test(text) ? sha256(text) : undefined;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
