/** The wire format of script and group secrets. Values are write-only. */
import { maxKeyLength, maxPathLength } from '#domain/secret-store/store.ts';
import { maxRotationDays, maxSecretBytes } from '#domain/secret/secret.ts';
import Type from 'typebox';
import { Exact, examples, Nullable, Page, Time, Uuid } from '../http/schema.ts';

export const Secret = Exact(
  {
    name: Type.String(),
    version: Type.Integer({ minimum: 1, description: 'Number of times that the value was set.' }),
    as_environment: Type.Boolean({
      description: 'Whether the secret is exposed as an environment variable.',
    }),
    rotate_after_days: Nullable(
      Type.Integer({ minimum: 1, description: 'Days after which the value is due for rotation.' }),
    ),
    rotation_due_at: Nullable(Time('When the value is due for rotation.')),
    store: Nullable(Uuid('The secret store that contains the value.')),
    path: Nullable(Type.String()),
    key: Nullable(Type.String()),
    updated_at: Time(),
    updated_by: Type.String(),
    last_used_at: Nullable(Time('Last time that a run received the value.')),
    last_used_by: Nullable(Uuid('The run that last received the value.')),
    used_by: Type.Array(
      Exact(
        { script_id: Uuid(), run_id: Uuid('The last run of the script.'), last_used_at: Time() },
        { title: 'SecretUser' },
      ),
      { description: 'The scripts whose runs received the value, most recent use first.' },
    ),
  },
  {
    title: 'Secret',
    examples: [
      {
        name: 'API_TOKEN',
        version: 2,
        as_environment: true,
        rotate_after_days: 90,
        rotation_due_at: examples.time,
        store: null,
        path: null,
        key: null,
        updated_at: examples.time,
        updated_by: 'ada@example.com',
        last_used_at: examples.time,
        last_used_by: examples.runId,
        used_by: [
          {
            script_id: examples.scriptId,
            run_id: examples.runId,
            last_used_at: examples.time,
          },
        ],
      },
    ],
  },
);

export const SecretPage = Page('SecretPage', Secret);

export const SecretValue = Exact(
  {
    value: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: maxSecretBytes,
        description: `At most ${maxSecretBytes} bytes of UTF-8. Never returned. Omit this field if the value is in a secret store.`,
      }),
    ),
    store: Type.Optional(
      Uuid(
        'The secret store that contains the value, as an alternative to `value`. Each run reads ' +
          'the value when it starts.',
      ),
    ),
    path: Type.Optional(
      Type.String({ maxLength: maxPathLength, description: 'Path in the secret store.' }),
    ),
    key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: maxKeyLength,
        description: 'Key at the path, or a file name.',
      }),
    ),
    as_environment: Type.Optional(
      Type.Boolean({
        description: 'If omitted, the setting is unchanged, or `false` for a new secret.',
      }),
    ),
    rotate_after_days: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 1,
          maximum: maxRotationDays,
          description:
            'If omitted, the setting is unchanged. `null` means never. Not allowed for values in ' +
            'a secret store.',
        }),
      ),
    ),
  },
  { title: 'SecretValue' },
);
