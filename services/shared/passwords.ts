/** Hashes passwords with bcrypt. bcrypt uses only the first 72 bytes, so longer passwords are refused instead of
 *  truncated. */
import bcrypt from 'bcrypt';

export const minPasswordLength = 8;
export const maxPasswordBytes = 72;
/** The bcrypt cost: the base-2 logarithm of the number of rounds. */
export const passwordCost = 12;

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Compares a password with a hash. If there is no hash, the comparison takes the same time. */
  matches(password: string, hash: string | undefined): Promise<boolean>;
}

export function isTooLong(password: string): boolean {
  return Buffer.byteLength(opaque(password)) > maxPasswordBytes;
}

/** Normalizes characters that keyboards and operating systems enter differently (RFC 8265, OpaqueString). */
function opaque(password: string): string {
  return password.replaceAll(/\p{Zs}/gu, ' ').normalize('NFC');
}

/** @param cost the base-2 logarithm of the number of rounds */
export function bcryptPasswords(cost: number): Passwords {
  // A valid hash with the same cost. Comparing a password with it takes the same time; the result is ignored.
  const decoy = `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}`;
  return {
    hash: (password) => bcrypt.hash(opaque(password), cost),
    matches: async (password, hash) => {
      const stored = hash ?? decoy;
      let isMatch = await bcrypt.compare(opaque(password), stored);
      // Older hashes were computed without normalizing the password.
      if (!isMatch && opaque(password) !== password) {
        isMatch = await bcrypt.compare(password, stored);
      }
      return hash !== undefined && isMatch;
    },
  };
}
