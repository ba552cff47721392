/** The wire format of the second factor. */
import Type from 'typebox';
import { Exact, examples } from '../../http/schema.ts';
import { PasskeyView, passkeyField } from './passkey-schema.ts';

const stateExample = {
  enabled: true,
  app: false,
  passkeys: [{ id: examples.runId, name: 'Laptop', added_at: examples.time, last_used_at: null }],
  recovery_codes_left: 9,
};

export const SecondFactorState = Exact(
  {
    enabled: Type.Boolean(),
    app: Type.Boolean({ description: 'Whether codes from an authenticator app are accepted.' }),
    passkeys: Type.Array(PasskeyView, { description: 'Oldest first.' }),
    recovery_codes_left: Type.Integer({ minimum: 0, description: 'Number of unused codes.' }),
  },
  { title: 'SecondFactor', examples: [stateExample] },
);

export const FactorKey = Exact(
  {
    key: Type.String({ description: 'The key in base32.' }),
    uri: Type.String({ description: 'The `otpauth:` address for a QR code.' }),
  },
  {
    title: 'FactorKey',
    examples: [
      {
        key: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
        uri: 'otpauth://totp/Orchestrator:ada%40example.com?secret=ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
      },
    ],
  },
);

export const codeField = Type.String({
  maxLength: 100,
  description: 'A one-time code of the authenticator app, or a recovery code.',
});

export const FactorConfirmation = Exact(
  {
    current_password: Type.String(),
    code: Type.Optional(codeField),
    passkey: Type.Optional(passkeyField),
  },
  { title: 'FactorConfirmation' },
);

export const NewFactor = Exact(
  {
    current_password: Type.String(),
    key: Type.String({ description: 'The generated key of the authenticator app.' }),
    code: Type.String({
      maxLength: 100,
      description: 'The current code from the authenticator app.',
    }),
    recovery_code: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Required if the account has passkeys, unless `passkey` is given.',
      }),
    ),
    passkey: Type.Optional(passkeyField),
  },
  { title: 'SecondFactorInput' },
);

export const RecoveryCodes = Exact(
  { recovery_codes: Type.Array(Type.String()) },
  { title: 'RecoveryCodes', examples: [{ recovery_codes: ['abcd-efgh-ijkl-mnop'] }] },
);
