/** Secrets of scripts on the wire; their values only come in. */
import { maxSecretBytes } from '#domain/secret/secret.ts';
import Type from 'typebox';
import { examples, Nullable, Page, Time, Uuid } from '../http/schema.ts';

export const Secret = Type.Object(
  {
    name: Type.String(),
    version: Type.Integer({ minimum: 1, description: 'Counts the values that it had.' }),
    as_environment: Type.Boolean({ description: 'It is a variable of the runs too.' }),
    updated_at: Time(),
    updated_by: Type.String(),
    last_used_at: Nullable(Time('When a run was last given a value of it.')),
    last_used_by: Nullable(Uuid('The run that was.')),
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
      description: `At most ${maxSecretBytes} bytes of UTF-8. No answer ever shows it.`,
    }),
    as_environment: Type.Optional(
      Type.Boolean({
        description: 'Left out, it stays as it is; a new secret is no variable.',
      }),
    ),
  },
  { title: 'SecretValue', additionalProperties: false },
);
