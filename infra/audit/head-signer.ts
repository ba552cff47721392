/** Signed heads of the audit chain. An auditor can use a saved head to detect later changes to the chain. */
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { canonicalJson } from '#domain/kernel/json.ts';

/** The newest entry of the audit chain at a point in time. */
export interface ChainHead {
  readonly audit_seq: number;
  readonly hash: string;
}

/** A signed head as stored and as returned by the API. */
export interface SignedHead extends ChainHead {
  /** The time of the signature. */
  readonly time: Date;
  /** Identifies the key that signed the head. */
  readonly key_id: string;
  /** Ed25519 over the canonical JSON of the other members, in base64. */
  readonly signature: string;
}

// The constant prefix of a PKCS #8 Ed25519 private key (RFC 8410).
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

export class HeadSigner {
  /** The first 16 hexadecimal digits of the SHA-256 of the public key's 32 bytes. */
  readonly keyId: string;
  /** PEM of the public key. */
  readonly publicKey: string;
  readonly #key: KeyObject;

  /** @param seed the 32 bytes of the private key */
  constructor(seed: Uint8Array) {
    this.#key = createPrivateKey({
      key: Buffer.concat([pkcs8, seed]),
      format: 'der',
      type: 'pkcs8',
    });
    const publicKey = createPublicKey(this.#key);
    this.publicKey = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
    this.keyId = createHash('sha256').update(raw).digest('hex').slice(0, 16);
  }

  sign({ audit_seq, hash }: ChainHead, time: Date): SignedHead {
    const head = { audit_seq, hash, time, key_id: this.keyId };
    return { ...head, signature: sign(null, signedBytes(head), this.#key).toString('base64') };
  }
}

/** @param publicKey PEM */
export function isSignedBy(publicKey: string, head: SignedHead): boolean {
  return verify(null, signedBytes(head), publicKey, Buffer.from(head.signature, 'base64'));
}

function signedBytes({ audit_seq, hash, time, key_id }: Omit<SignedHead, 'signature'>): Buffer {
  return Buffer.from(canonicalJson({ audit_seq, hash, time: time.toISOString(), key_id }));
}
