/** The wire format of the differences between two runs. */
import Type from 'typebox';
import { examples, Nullable, Time, Uuid } from '../http/schema.ts';
import { FileDiff, SettingChange } from '../scripts/history/schema.ts';

const Change = Type.Enum(['added', 'changed', 'removed']);

const ValueChange = Type.Object(
  { name: Type.String(), before: Type.Unknown(), after: Type.Unknown() },
  { title: 'ValueChange', additionalProperties: false },
);
const NameChange = Type.Object(
  { name: Type.String(), change: Change },
  { title: 'NameChange', additionalProperties: false },
);
const ChangedFile = Type.Object(
  {
    ...FileDiff.properties,
    in_error: Type.Boolean({
      description: "Whether the traceback of the run's error contains the file.",
    }),
    last_change: Nullable(
      Type.Object(
        {
          version: Type.Integer({ minimum: 1 }),
          time: Time(),
          actor: Type.String(),
        },
        {
          title: 'LastChange',
          additionalProperties: false,
          description: 'The last change to the file before the run.',
        },
      ),
    ),
  },
  { title: 'ChangedFile', additionalProperties: false },
);
const Version = Nullable(Type.String());

export const RunChanges = Type.Object(
  {
    run_id: Uuid(),
    base_run_id: Nullable(
      Uuid('The last successful run of the script before this run, or `null`.'),
    ),
    from: Nullable(Type.Integer({ minimum: 1, description: 'Script version of the other run.' })),
    to: Type.Integer({ minimum: 1, description: 'Script version of this run.' }),
    files: Nullable(
      Type.Array(ChangedFile, {
        description:
          "Files that occur in the traceback of the run's error come first. `null` if the caller " +
          'may not read files, or after a purge.',
      }),
    ),
    files_omitted: Type.Integer({
      minimum: 0,
      description: 'Number of changed files beyond the first 100, which are omitted.',
    }),
    settings: Nullable(Type.Array(SettingChange)),
    environment: Nullable(
      Type.Object(
        {
          python: Nullable(
            Type.Object(
              { before: Version, after: Version },
              { title: 'PythonChange', additionalProperties: false },
            ),
          ),
          packages: Type.Array(ValueChange),
        },
        { title: 'EnvironmentChanges', additionalProperties: false },
      ),
    ),
    parameters: Nullable(
      Type.Array(ValueChange, {
        description: 'Changed parameters. `null` if the parameters are no longer stored.',
      }),
    ),
    configuration: Nullable(
      Type.Object(
        { variables: Nullable(Type.Array(NameChange)), secrets: Nullable(Type.Array(NameChange)) },
        {
          title: 'ConfigurationChanges',
          additionalProperties: false,
          description: 'Names only, without values. Parts that you may not read are `null`.',
        },
      ),
    ),
    runtime: Type.Array(ValueChange, {
      description: 'The runtime and the sandbox layers.',
    }),
  },
  {
    title: 'RunChanges',
    additionalProperties: false,
    examples: [
      {
        run_id: examples.runId,
        base_run_id: examples.runId,
        from: 2,
        to: 3,
        files: [
          {
            path: 'main.py',
            change: 'changed',
            sha256_before: '0'.repeat(64),
            sha256_after: '1'.repeat(64),
            diff: '@@ -1 +1 @@\n-print(1)\n+print(2)\n',
            omitted: null,
            in_error: true,
            last_change: null,
          },
        ],
        files_omitted: 0,
        settings: [],
        environment: {
          python: null,
          packages: [{ name: 'requests', before: '2.31.0', after: '2.32.0' }],
        },
        parameters: [{ name: 'limit', before: 10, after: 20 }],
        configuration: { variables: [], secrets: [{ name: 'SHOP_TOKEN', change: 'changed' }] },
        runtime: [],
      },
    ],
  },
);
