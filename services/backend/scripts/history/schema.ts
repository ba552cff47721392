/** The wire format of a script's history. */
import Type from 'typebox';
import { Exact, examples, Nullable, Page, Sha256, Time } from '../../http/schema.ts';

/** A query parameter that names a script version. */
export const versionParameter = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description }));

export const HistoryPage = Page(
  'HistoryPage',
  Exact(
    {
      event_position: Type.Integer({ minimum: 1 }),
      time: Time(),
      actor: Type.String(),
      action: Type.String({
        description: 'Action as shown in the audit trail, such as `file_saved`.',
      }),
      version: Nullable(
        Type.Integer({
          minimum: 1,
          description: 'The script version that the event created, or `null`.',
        }),
      ),
      changes: Type.Object(
        {},
        {
          additionalProperties: true,
          description: "The event's data. Its fields depend on the event type.",
        },
      ),
      files: Type.Array(
        Exact(
          {
            path: Type.String(),
            sha256_before: Nullable(Sha256),
            sha256_after: Nullable(Sha256),
          },
          { title: 'FileChange' },
        ),
        {
          description:
            'Changed paths with the hashes of their contents. A hash is `null` if the file did ' +
            'not exist before or does not exist after the change.',
        },
      ),
    },
    {
      title: 'Happening',
      examples: [
        {
          event_position: 412,
          time: examples.time,
          actor: 'ada@example.com',
          action: 'script_changed',
          version: 3,
          changes: { max_concurrent_runs: 2 },
          files: [],
        },
      ],
    },
  ),
);

export const SettingChange = Exact(
  { name: Type.String(), before: Type.Unknown(), after: Type.Unknown() },
  { title: 'SettingChange' },
);

export const FileDiff = Exact(
  {
    path: Type.String(),
    change: Type.Enum(['added', 'changed', 'removed']),
    sha256_before: Nullable(Sha256),
    sha256_after: Nullable(Sha256),
    diff: Nullable(Type.String({ description: 'Unified diff without file headers.' })),
    omitted: Nullable(
      Type.Enum(['binary', 'too_large', 'content_removed'], {
        description: 'Why `diff` is missing.',
      }),
    ),
  },
  { title: 'FileDiff' },
);

export const ScriptDiff = Exact(
  {
    from: Type.Integer({ minimum: 1 }),
    to: Type.Integer({ minimum: 1 }),
    settings: Type.Array(SettingChange),
    items: Type.Array(FileDiff),
    next_cursor: Nullable(Type.String()),
  },
  {
    title: 'ScriptDiff',
    examples: [
      {
        from: 2,
        to: 3,
        settings: [],
        items: [
          {
            path: 'main.py',
            change: 'changed',
            sha256_before: examples.sha256,
            sha256_after: examples.sha256,
            diff: '@@ -1,1 +1,1 @@\n-print(1)\n+print(2)\n',
            omitted: null,
          },
        ],
        next_cursor: null,
      },
    ],
  },
);

/** Converts a name to the wire format. */
export function wireName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
