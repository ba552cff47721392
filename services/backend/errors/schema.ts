/** The wire format of error groups (contract part 2, "Failures"). */
import { errorGroupStatuses } from '#domain/error-group/error-group.ts';
import { trendDays } from '#projections/error-groups/queries.ts';
import Type from 'typebox';
import { examples, Nullable, Page, Time, Uuid } from '../http/schema.ts';

export const ErrorGroupStatusSchema = Type.Enum(errorGroupStatuses, { title: 'ErrorGroupStatus' });

const example = {
  id: examples.errorGroupId,
  type: 'ValueError',
  message: "could not convert string to float: 'n/a'",
  place: 'lib/load.py:3',
  script_ids: [examples.scriptId],
  script_name: 'Nightly report',
  first_seen: '2026-11-20T02:31:00.000Z',
  last_seen: examples.time,
  count: 97,
  first_version: 3,
  last_version: 4,
  trend: [0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 30, 31, 20, 4],
  last_run_id: examples.runId,
  status: 'open',
  resolved_in_version: null,
  ignored_until: null,
};

export const ErrorGroup = Type.Object(
  {
    id: Uuid(),
    type: Type.String({ description: 'Type of the last error of the group.' }),
    message: Type.String({ description: 'Message of the last error of the group.' }),
    place: Nullable(
      Type.String({
        description:
          "File and line of the last error: the innermost call in the script's own code. Null if no call is.",
      }),
    ),
    script_ids: Type.Array(Uuid()),
    script_name: Type.String({ description: 'Name of the script of the last run.' }),
    first_seen: Time(),
    last_seen: Time(),
    count: Type.Integer({ minimum: 1, description: 'Number of runs with this error.' }),
    first_version: Type.Integer({
      minimum: 1,
      description: "The lowest script version of the group's runs.",
    }),
    last_version: Type.Integer({
      minimum: 1,
      description: "The highest script version of the group's runs.",
    }),
    trend: Type.Array(Type.Integer({ minimum: 0 }), {
      minItems: trendDays,
      maxItems: trendDays,
      description: `Number of failed runs in each of the last ${trendDays} periods of 24 hours, oldest first.`,
    }),
    last_run_id: Uuid(),
    status: ErrorGroupStatusSchema,
    resolved_in_version: Nullable(Type.Integer({ minimum: 1 })),
    ignored_until: Nullable(Time()),
  },
  { title: 'ErrorGroup', additionalProperties: false, examples: [example] },
);

export const ErrorGroupPage = Page('ErrorGroupPage', ErrorGroup);

export const ErrorGroupChange = Type.Object(
  {
    status: ErrorGroupStatusSchema,
    resolved_in_version: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 1,
          maximum: 2 ** 31 - 1,
          description:
            'For `resolved` groups: the first script version without the error. Null: the error ' +
            'in any later run reopens the group.',
        }),
      ),
    ),
    ignored_until: Type.Optional(
      Nullable(Time('For `ignored` groups: when the group reopens. Null: never.')),
    ),
  },
  { title: 'ErrorGroupChange', additionalProperties: false },
);
