/** The wire format of backfills. */
import Type from 'typebox';
import { examples, Nullable, Time, Uuid } from '../http/schema.ts';

export const defaultBackfillRuns = 100;
const maxBackfillRuns = 1000;

export const BackfillRequest = Type.Object(
  {
    from: Time('The first due time, which may be before the creation of the schedule.'),
    to: Time('The end of the range, exclusive.'),
    max_runs: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxBackfillRuns,
        default: defaultBackfillRuns,
        description: 'Maximum number of runs to start.',
      }),
    ),
    dry_run: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether to list the due times without starting runs.',
      }),
    ),
  },
  { title: 'BackfillRequest', additionalProperties: false },
);

export const Backfill = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          due_at: Time(),
          local: Type.String({ description: 'Local time in the time zone of the schedule.' }),
          run_id: Nullable(
            Uuid(
              'ID of the new run. `null` for a dry run, or if another request already started a ' +
                'run for this ' +
                'due time.',
            ),
          ),
        },
        { title: 'BackfilledDueTime', additionalProperties: false },
      ),
    ),
    remaining: Type.Integer({
      minimum: 0,
      description:
        'Number of due times in the range that still have no run because `max_runs` was reached.',
    }),
    dry_run: Type.Boolean(),
  },
  {
    title: 'Backfill',
    additionalProperties: false,
    examples: [
      {
        items: [
          {
            due_at: '2026-11-01T01:30:00.000Z',
            local: '2026-11-01T02:30:00+01:00',
            run_id: examples.runId,
          },
        ],
        remaining: 0,
        dry_run: false,
      },
    ],
  },
);
