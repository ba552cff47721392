/** Uses passkeys in the browser (WebAuthn). The API encodes binary fields as base64url. */
import { readApiError } from '#lib/api/api-error.ts';
import { connection } from '#lib/api/connection.svelte.ts';
import type {
  NewCredential,
  PasskeyChallenge,
  PasskeyOptions,
  PasskeySignature,
} from '#lib/api/types.ts';

/** Returns the passkeys with which the account can sign in on the current origin, and a single-use challenge.
 *  @throws ApiError 401 for a wrong password, 429 while throttled */
export async function getChallenge(email: string, password: string): Promise<PasskeyChallenge> {
  const response = await connection.watch(() =>
    fetch('/api/v1/auth/second-factor/challenge', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    }),
  );
  if (!response.ok) throw await readApiError(response);
  return (await response.json()) as PasskeyChallenge;
}

/** Asks the user to confirm with a passkey.
 *  @throws Error if the user cancels, or if the account has no passkey for the current origin */
export async function signWithPasskey(email: string, password: string): Promise<PasskeySignature> {
  const { challenge, rp_id: rpId, passkeys } = await getChallenge(email, password);
  if (challenge === null || rpId === null) {
    throw new Error('This account has no passkey for this site address. Enter a code instead.');
  }
  const credential = await prompted(() =>
    navigator.credentials.get({
      publicKey: {
        challenge: decode(challenge),
        rpId,
        allowCredentials: passkeys.map(descriptorOf),
        userVerification: 'preferred',
      },
    }),
  );
  const response = credential.response as AuthenticatorAssertionResponse;
  return {
    id: credential.id,
    client_data: encode(response.clientDataJSON),
    authenticator_data: encode(response.authenticatorData),
    signature: encode(response.signature),
  };
}

/** Asks the user to create a passkey.
 *  @throws Error if the user cancels, or if the authenticator already has a passkey for the account */
export async function createPasskey(
  options: PasskeyOptions,
  { email, name }: { readonly email: string; readonly name: string },
): Promise<NewCredential> {
  const credential = await prompted(() =>
    navigator.credentials.create({
      publicKey: {
        challenge: decode(options.challenge),
        rp: { id: options.rp_id, name: 'Orchestrator' },
        user: { id: decode(options.user_handle), name: email, displayName: name || email },
        // The COSE identifiers of EdDSA, ES256 and RS256.
        pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: 'public-key', alg })),
        excludeCredentials: options.existing.map(descriptorOf),
        authenticatorSelection: { residentKey: 'discouraged', userVerification: 'preferred' },
      },
    }),
  );
  const response = credential.response as AuthenticatorAttestationResponse;
  return {
    id: credential.id,
    client_data: encode(response.clientDataJSON),
    attestation: encode(response.attestationObject),
    transports: response.getTransports(),
  };
}

async function prompted(prompt: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  // Browsers hide the WebAuthn API on pages without HTTPS.
  if (!('credentials' in navigator)) throw new Error('Passkeys require HTTPS.');
  try {
    const credential = await prompt();
    if (credential !== null) return credential as PublicKeyCredential;
  } catch (error) {
    const reason = error instanceof DOMException ? error.name : '';
    if (reason === 'InvalidStateError') {
      throw new Error('This device already has a passkey for your account.', { cause: error });
    }
    if (reason === 'SecurityError') {
      throw new Error('Passkeys do not work at this address.', { cause: error });
    }
    if (reason !== 'NotAllowedError') throw error;
  }
  throw new Error('The passkey was not used. Try again.');
}

function descriptorOf({ id, transports }: { id: string; transports: string[] }) {
  return {
    type: 'public-key' as const,
    id: decode(id),
    transports: transports as AuthenticatorTransport[],
  };
}

function encode(bytes: ArrayBuffer): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function decode(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
