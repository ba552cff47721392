/** The signed manifest of a repository's newest release. `latest.json` is an envelope that contains the manifest as
 *  bytes, and Ed25519 signatures of exactly these bytes. JSON formatting therefore does not affect the signature. The
 *  manifest specifies the size and hash of the artifact, and the oldest version that can be updated. It expires, so
 *  that a withheld update is detected. */
import { createHash, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { UpdateRefused } from '#domain/ports/updates.ts';
import type { Release } from '#domain/update/update.ts';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';

/** The name of the envelope file in a repository. */
export const envelopeName = 'latest.json';
/** The size limit of an envelope. */
export const maxEnvelopeBytes = 1024 * 1024;
/** The prefix of signed content. It prevents a signature from being used for another purpose. */
const domainSeparator = Buffer.from('orchestrator-update-v1\n');

const version = Type.String({ pattern: String.raw`^\d{1,6}\.\d{1,6}\.\d{1,6}$` });
const time = Type.String({ pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$` });

const Manifest = Type.Object({
  format: Type.Literal('orchestrator-update'),
  format_version: Type.Literal(1),
  version,
  notes: Type.String({ maxLength: 10_000 }),
  released_at: time,
  expires_at: time,
  minimum_version: version,
  artifact: Type.Object({
    path: Type.String({ pattern: String.raw`^[\w-][\w.-]*(/[\w-][\w.-]*){0,5}$`, maxLength: 200 }),
    size_bytes: Type.Integer({ minimum: 1, maximum: 2 ** 40 }),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  }),
});
export type Manifest = Static<typeof Manifest>;

const Envelope = Type.Object({
  payload: Type.String(),
  signatures: Type.Array(Type.Object({ key_id: Type.String(), signature: Type.String() }), {
    minItems: 1,
    maxItems: 10,
  }),
});

/** @param raw the 32 bytes of an Ed25519 public key */
export function publicKeyOf(raw: Uint8Array): KeyObject {
  const x = Buffer.from(raw).toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}

/** Returns the 32 bytes of a public key. */
export function rawKeyOf(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
}

function keyIdOf(key: KeyObject): string {
  return createHash('sha256').update(rawKeyOf(key)).digest('hex').slice(0, 16);
}

/** Returns the envelope as text.
 *  @param privateKey an Ed25519 key */
export function signManifest(manifest: Manifest, privateKey: KeyObject): string {
  const payload = Buffer.from(JSON.stringify(manifest));
  const signature = sign(null, Buffer.concat([domainSeparator, payload]), privateKey);
  const envelope = {
    payload: payload.toString('base64'),
    signatures: [
      {
        key_id: keyIdOf(createPublicKey(privateKey)),
        signature: signature.toString('base64'),
      },
    ],
  };
  return `${JSON.stringify(envelope, null, 2)}\n`;
}

/** Returns the manifest in an envelope if a signature is valid and the manifest has not expired.
 *  @throws UpdateRefused with the reason */
export function openEnvelope(bytes: Uint8Array, keys: readonly KeyObject[], now: Date): Manifest {
  const envelope = parsed(bytes, 'latest.json');
  if (!Value.Check(Envelope, envelope))
    throw new UpdateRefused('latest.json is not a signed manifest');
  const payload = Buffer.from(envelope.payload, 'base64');
  const signed = Buffer.concat([domainSeparator, payload]);
  const isGood = envelope.signatures.some(({ key_id, signature }) => {
    const key = keys.find((one) => keyIdOf(one) === key_id);
    return key !== undefined && verify(null, signed, key, Buffer.from(signature, 'base64'));
  });
  if (!isGood) throw new UpdateRefused('its manifest is not signed with a known key');
  // The manifest is parsed only after its signature has been verified.
  const manifest = parsed(payload, 'the manifest');
  if (!Value.Check(Manifest, manifest)) {
    const [first] = Value.Errors(Manifest, manifest);
    const where = first?.instancePath ?? '';
    throw new UpdateRefused(`its manifest has an unsupported format (${where})`);
  }
  if (Date.parse(manifest.expires_at) <= now.getTime()) {
    throw new UpdateRefused(`its manifest expired at ${manifest.expires_at}`);
  }
  return manifest;
}

export function releaseOf(manifest: Manifest): Release {
  const { artifact } = manifest;
  return {
    version: manifest.version,
    notes: manifest.notes,
    releasedAt: manifest.released_at,
    expiresAt: manifest.expires_at,
    minimumVersion: manifest.minimum_version,
    sizeBytes: artifact.size_bytes,
    sha256: artifact.sha256,
  };
}

function parsed(bytes: Uint8Array, what: string): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as unknown;
  } catch {
    throw new UpdateRefused(`${what} is not JSON`);
  }
}
