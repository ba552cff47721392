/** The wire format of the environment's settings. */
import Type from 'typebox';
import { Exact, Nullable } from '../http/schema.ts';

export const Settings = Exact(
  {
    documented_in: Type.String({ description: 'File of the release that documents all settings.' }),
    items: Type.Array(
      Exact(
        {
          name: Type.String({ description: 'Name of the variable.' }),
          value: Nullable(
            Type.String({ description: 'The effective value; `null` if unset or secret.' }),
          ),
          secret: Type.Boolean({
            description: 'Whether the setting is secret. Secret values are never returned.',
          }),
          source: Type.Enum(['default', 'environment', 'file', 'unknown'], {
            description:
              '`file`: read from the file that the variable `NAME_FILE` specifies. `unknown`: a ' +
              'secret that the backend does not ' +
              'receive.',
          }),
          expected: Type.String({ description: 'Description of valid values.' }),
        },
        { title: 'Setting' },
      ),
    ),
  },
  {
    title: 'Settings',
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
