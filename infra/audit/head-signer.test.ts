import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { HeadSigner, isSignedBy } from './head-signer.ts';

const signer = new HeadSigner(Buffer.alloc(32, 7));
const head = signer.sign({ audit_seq: 12, hash: 'a'.repeat(64) }, new Date(Date.UTC(2026, 0)));

describe('a signed head', () => {
  test("can be verified with the signer's public key", () => {
    expect(head.key_id).toBe(signer.keyId);
    expect(isSignedBy(signer.publicKey, head)).toBe(true);
  });

  test.each([
    { audit_seq: 13 },
    { hash: 'b'.repeat(64) },
    { time: new Date(0) },
    { key_id: '0'.repeat(16) },
    { signature: Buffer.alloc(64).toString('base64') },
  ])('fails verification when changed to %o', (change) => {
    expect(isSignedBy(signer.publicKey, { ...head, ...change })).toBe(false);
  });

  test('fails verification with a different key', () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const other = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    expect(isSignedBy(other, head)).toBe(false);
  });
});

test('the signer derives the public key in the RFC 8032 example from the seed', () => {
  const seed = Buffer.from(
    '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    'hex',
  );
  const raw = createPublicKey(new HeadSigner(seed).publicKey)
    .export({ format: 'der', type: 'spki' })
    .subarray(-32);
  expect(raw.toString('hex')).toBe(
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
  );
});
