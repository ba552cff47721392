/** Envelope encryption with AES-256-GCM. Data keys encrypt values, and the master key encrypts data keys. A ciphertext
 *  is bound to its owner and cannot be decrypted for another owner. */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** The length of a key in bytes. */
export const keyBytes = 32;

/** The content failed authentication. Either the key or the context is wrong, or the bytes were modified. */
export class UnreadableSecret extends Error {
  override readonly name = 'UnreadableSecret';
}

export interface Box {
  readonly nonce: Buffer;
  /** The ciphertext, followed by the authentication tag. */
  readonly ciphertext: Buffer;
}

/** @param context identifies the owner of the ciphertext. Decryption requires the same context */
export function close(key: Uint8Array, content: Uint8Array, context: readonly string[]): Box {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce);
  cipher.setAAD(additionalData(context));
  const ciphertext = Buffer.concat([cipher.update(content), cipher.final(), cipher.getAuthTag()]);
  return { nonce, ciphertext };
}

/** @throws UnreadableSecret */
export function open(
  key: Uint8Array,
  { nonce, ciphertext }: Box,
  context: readonly string[],
): Buffer {
  const end = ciphertext.length - tagBytes;
  if (nonce.length !== nonceBytes || end < 0) throw unreadable();
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(additionalData(context));
  decipher.setAuthTag(ciphertext.subarray(end));
  try {
    return Buffer.concat([decipher.update(ciphertext.subarray(0, end)), decipher.final()]);
  } catch (cause) {
    throw unreadable(cause);
  }
}

/** Returns a name that identifies a master key without revealing it. */
export function keyName(key: Uint8Array): string {
  return createHmac('sha256', key).update('name of a master key').digest('hex').slice(0, 16);
}

function additionalData(context: readonly string[]): Buffer {
  // JSON encoding gives different lists different bytes.
  return Buffer.from(JSON.stringify(context));
}

function unreadable(cause?: unknown): UnreadableSecret {
  return new UnreadableSecret(
    'it was sealed with another key, belongs to another resource, or is damaged',
    { cause },
  );
}
