/** Passwords as bcrypt hashes. bcrypt looks at 72 bytes only, so longer ones are refused, not cut. */
import { randomBytes } from 'node:crypto';
import bcrypt from 'bcrypt';

export const minPasswordLength = 8;
export const maxPasswordBytes = 72;
/** Of their hashes, as a power of two. */
export const passwordCost = 12;

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Takes the same time whether there is a hash or not. */
  matches(password: string, hash: string | undefined): Promise<boolean>;
}

export function isTooLong(password: string): boolean {
  return Buffer.byteLength(opaque(password)) > maxPasswordBytes;
}

/** The same text for what keyboards and systems enter differently (RFC 8265, OpaqueString). */
function opaque(password: string): string {
  return password.replaceAll(/\p{Zs}/gu, ' ').normalize('NFC');
}

/** @param cost as a power of two */
export function bcryptPasswords(cost: number): Passwords {
  // A hash of the same cost that matches no password.
  const decoy = bcrypt.hash(randomBytes(32).toString('base64'), cost);
  return {
    hash: (password) => bcrypt.hash(opaque(password), cost),
    matches: async (password, hash) => {
      const stored = hash ?? (await decoy);
      let isMatch = await bcrypt.compare(opaque(password), stored);
      // Hashes from before are of what was typed.
      if (!isMatch && opaque(password) !== password) {
        isMatch = await bcrypt.compare(password, stored);
      }
      return hash !== undefined && isMatch;
    },
  };
}
