/** The second factor on the wire. */
import Type from 'typebox';
import { Exact } from '../http/schema.ts';

export const SecondFactorState = Exact(
  {
    enabled: Type.Boolean(),
    recovery_codes_left: Type.Integer({ minimum: 0, description: 'Number of unused codes.' }),
  },
  { title: 'SecondFactor', examples: [{ enabled: true, recovery_codes_left: 9 }] },
);

export const FactorKey = Exact(
  {
    key: Type.String({ description: 'In base32.' }),
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
  { current_password: Type.String(), code: Type.Optional(codeField) },
  { title: 'FactorConfirmation' },
);

export const NewFactor = Exact(
  {
    current_password: Type.String(),
    key: Type.String({ description: 'The key that was generated for the authenticator app.' }),
    code: Type.String({
      maxLength: 100,
      description: 'The current code from the authenticator app.',
    }),
  },
  { title: 'SecondFactorInput' },
);

export const RecoveryCodes = Exact(
  { recovery_codes: Type.Array(Type.String()) },
  { title: 'RecoveryCodes', examples: [{ recovery_codes: ['abcd-efgh-ijkl-mnop'] }] },
);
