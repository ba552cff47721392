/** The settings of the environment on the wire. */
import Type from 'typebox';
import { Nullable } from '../http/schema.ts';

export const Settings = Type.Object(
  {
    documented_in: Type.String({ description: 'Where each is explained, in the release.' }),
    items: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'Of the variable.' }),
          value: Nullable(
            Type.String({ description: 'In force; `null` for none, and for a secret.' }),
          ),
          secret: Type.Boolean({ description: 'Its value is never shown.' }),
          source: Type.Enum(['default', 'environment', 'file', 'unknown'], {
            description:
              '`file`: `NAME_FILE` names one. `unknown`: a secret that the backend is not given.',
          }),
          expected: Type.String({ description: 'What it may be.' }),
        },
        { title: 'Setting', additionalProperties: false },
      ),
    ),
  },
  {
    title: 'Settings',
    additionalProperties: false,
    examples: [
      {
        documented_in: 'docs/settings.md',
        items: [
          {
            name: 'ORCH_HTTP_PORT',
            value: '8080',
            secret: false,
            source: 'default',
            expected: 'a whole number from 1 to 65535',
          },
        ],
      },
    ],
  },
);
