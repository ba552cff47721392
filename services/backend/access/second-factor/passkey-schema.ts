/** The wire format of passkeys. Binary fields are in base64url, as in WebAuthn's JSON. */
import Type from 'typebox';
import { Exact, Nullable, Time, Uuid, examples } from '../../http/schema.ts';

const Binary = (description: string) =>
  Type.String({ minLength: 1, maxLength: 20_000, pattern: '^[A-Za-z0-9_-]+$', description });
const Transports = Type.Array(Type.String({ maxLength: 40, pattern: '^[a-z-]+$' }), {
  maxItems: 10,
  description: 'How browsers reach the authenticator, such as `internal` or `usb`.',
});
const challenge = Type.String({ description: 'In base64url. Valid once, within 5 minutes.' });
const rpId = Type.String({ description: 'The host name of the dashboard.' });
const webauthnId = Type.String({ description: 'Credential ID of the authenticator.' });

export const PasskeyReference = Exact(
  { id: webauthnId, transports: Transports },
  { title: 'PasskeyReference' },
);

export const PasskeyView = Exact(
  {
    id: Uuid(),
    name: Type.String(),
    added_at: Time(),
    last_used_at: Nullable(Time('Null if the passkey has never been used.')),
  },
  { title: 'Passkey' },
);

export const PasskeyOptions = Exact(
  {
    challenge,
    rp_id: rpId,
    user_handle: Type.String({ description: 'The account, in base64url.' }),
    existing: Type.Array(PasskeyReference, { description: 'Authenticators to exclude.' }),
  },
  {
    title: 'PasskeyOptions',
    examples: [
      { challenge: 'mRr1dMrdDtE', rp_id: 'example.com', user_handle: 'AZqj8A', existing: [] },
    ],
  },
);

export const PasskeyChallenge = Exact(
  {
    challenge: Nullable(challenge),
    rp_id: Nullable(rpId),
    passkeys: Type.Array(PasskeyReference, {
      description: 'Empty if the account has no passkeys.',
    }),
  },
  {
    title: 'PasskeyChallenge',
    examples: [{ challenge: null, rp_id: null, passkeys: [] }],
  },
);

export const passkeyField = Exact(
  {
    id: Binary("The credential's `id`."),
    client_data: Binary('`response.clientDataJSON`.'),
    authenticator_data: Binary('`response.authenticatorData`.'),
    signature: Binary('`response.signature`.'),
  },
  {
    title: 'PasskeySignature',
    description: 'The result of `navigator.credentials.get()`, as an alternative to `code`.',
  },
);
export type PasskeySignature = Type.Static<typeof passkeyField>;

const NewCredential = Exact(
  {
    id: Binary("The credential's `id`."),
    client_data: Binary('`response.clientDataJSON`.'),
    attestation: Binary('`response.attestationObject`.'),
    transports: Transports,
  },
  { title: 'NewCredential', description: 'The result of `navigator.credentials.create()`.' },
);
export type NewPasskeyBody = Type.Static<typeof NewCredential>;

const name = Type.String({
  maxLength: 200,
  description: 'A name that identifies the passkey, such as `Work laptop`.',
});

export const PasskeyName = Exact({ name }, { title: 'PasskeyName' });

export const NewPasskey = Exact(
  {
    name,
    current_password: Type.String(),
    code: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Required if the account has a second factor, unless `passkey` is given.',
      }),
    ),
    passkey: Type.Optional(passkeyField),
    credential: NewCredential,
  },
  { title: 'PasskeyInput' },
);

export const AddedPasskey = Exact(
  {
    id: Uuid(),
    recovery_codes: Type.Array(Type.String(), {
      description: 'Empty if the account has recovery codes already.',
    }),
  },
  { title: 'AddedPasskey', examples: [{ id: examples.runId, recovery_codes: [] }] },
);

export const ChallengeInput = Exact(
  { email: Type.String({ maxLength: 254 }), password: Type.String() },
  { title: 'PasskeyChallengeInput' },
);
