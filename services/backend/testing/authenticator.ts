/** A simulated authenticator for passkeys (WebAuthn §6), which can also sign wrong values. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

interface Signing {
  readonly challenge: string;
  readonly origin: string;
  readonly rpId?: string;
  readonly counter?: number;
}

const userPresent = 0x01;
const withCredential = 0x40;
const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest();
const cborText = (text: string) => Buffer.from([0x60 | text.length, ...Buffer.from(text)]);
const cborBytes = (bytes: Uint8Array) => Buffer.concat([Buffer.from([0x58, bytes.length]), bytes]);

export class TestAuthenticator {
  readonly #id = randomBytes(16);
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  /** Creates a passkey, like `navigator.credentials.create()`. */
  create({ counter = 0, ...given }: Signing) {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    const cose = Buffer.concat([
      // kty EC2, alg ES256, crv P-256, then the coordinates (RFC 9053 §7.1.1).
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
      cborBytes(Buffer.from(x, 'base64url')),
      Buffer.from([0x22]),
      cborBytes(Buffer.from(y, 'base64url')),
    ]);
    const credential = [Buffer.alloc(16), Buffer.from([0, 16]), this.#id, cose];
    const flags = userPresent | withCredential;
    const data = Buffer.concat([authenticatorData(given, flags, counter), ...credential]);
    const attestation = Buffer.concat([
      Buffer.from([0xa3]),
      cborText('fmt'),
      cborText('none'),
      cborText('attStmt'),
      Buffer.from([0xa0]),
      cborText('authData'),
      cborBytes(data),
    ]);
    return {
      id: base64url(this.#id),
      client_data: base64url(clientData('webauthn.create', given)),
      attestation: base64url(attestation),
      transports: ['internal'],
    };
  }

  /** Signs a challenge, like `navigator.credentials.get()`. */
  get({ counter = 0, ...given }: Signing) {
    const client = clientData('webauthn.get', given);
    const data = authenticatorData(given, userPresent, counter);
    const signed = Buffer.concat([data, sha256(client)]);
    return {
      id: base64url(this.#id),
      client_data: base64url(client),
      authenticator_data: base64url(data),
      signature: base64url(sign('sha256', signed, this.#keys.privateKey)),
    };
  }
}

function clientData(type: string, { challenge, origin }: Signing): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
}

function authenticatorData({ origin, rpId }: Signing, flags: number, counter: number): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  return Buffer.concat([sha256(rpId ?? new URL(origin).hostname), Buffer.from([flags]), count]);
}
