/** Secrets of scripts on the wire. Values are write-only. */
import { maxSecretBytes } from '#domain/secret/secret.ts';
import Type from 'typebox';
import { examples, Nullable, Page, Time, Uuid } from '../http/schema.ts';

export const Secret = Type.Object(
  {
    name: Type.String(),
    version: Type.Integer({ minimum: 1, description: 'Number of values set so far.' }),
    as_environment: Type.Boolean({
      description: 'Whether the secret is exposed as an environment variable.',
    }),
    updated_at: Time(),
    updated_by: Type.String(),
    last_used_at: Nullable(Time('Last time that a run was given the value.')),
    last_used_by: Nullable(Uuid('The run that was last given the value.')),
  },
  {
    title: 'Secret',
    additionalProperties: false,
    examples: [
      {
        name: 'API_TOKEN',
        version: 2,
        as_environment: true,
        updated_at: examples.time,
        updated_by: 'ada@example.com',
        last_used_at: examples.time,
        last_used_by: examples.runId,
      },
    ],
  },
);

export const SecretPage = Page('SecretPage', Secret);

export const SecretValue = Type.Object(
  {
    value: Type.String({
      minLength: 1,
      maxLength: maxSecretBytes,
      description: `At most ${maxSecretBytes} bytes of UTF-8. Never returned.`,
    }),
    as_environment: Type.Optional(
      Type.Boolean({
        description: 'If omitted, stays unchanged; for a new secret, false.',
      }),
    ),
  },
  { title: 'SecretValue', additionalProperties: false },
);
