/** The wire format of updates (contract §3, "Updates"). */
import { updateKinds, updateSteps } from '#domain/update/update.ts';
import Type from 'typebox';
import { examples, Nullable, Time, Uuid } from '../http/schema.ts';

const strict = { additionalProperties: false } as const;
const version = Type.String({ pattern: String.raw`^\d{1,6}\.\d{1,6}\.\d{1,6}$` });
const step = Type.Enum(updateSteps, {
  title: 'UpdateStep',
  description: 'A step of an update. `restart` includes the migrations and the health check.',
});

const updateExample = {
  id: examples.runId,
  kind: 'update',
  from: '0.1.13',
  to: '0.1.14',
  status: 'running',
  step: 'backup',
  steps: [{ step: 'download', finished_at: examples.time }],
  reason: null,
  started_by: 'ada@example.com',
  started_at: examples.time,
  finished_at: null,
};

export const Update = Type.Object(
  {
    id: Uuid(),
    kind: Type.Enum(updateKinds, {
      description: '`update` to a newer release or `rollback` to the previous one.',
    }),
    from: version,
    to: version,
    status: Type.Enum(['running', 'succeeded', 'failed', 'rolled_back'], {
      description:
        '`failed`: nothing was changed. `rolled_back`: the new release was unhealthy, so the ' +
        'previous release is running.',
    }),
    step,
    steps: Type.Array(Type.Object({ step, finished_at: Time() }, strict), {
      description: 'Completed steps.',
    }),
    reason: Nullable(Type.String({ description: 'Why the update failed.' })),
    started_by: Type.String(),
    started_at: Time(),
    finished_at: Nullable(Time()),
  },
  { title: 'Update', ...strict, examples: [updateExample] },
);

export const Updates = Type.Object(
  {
    current: version,
    source_configured: Type.Boolean({
      description: 'Whether a repository and its key are configured.',
    }),
    installable: Type.Boolean({
      description:
        'Whether this edition can install updates itself. The production edition is updated by ' +
        'deploying new images.',
    }),
    latest: Nullable(
      Type.Object(
        {
          version,
          notes: Type.String(),
          released_at: Time(),
          expires_at: Time(),
          minimum_version: version,
          size_bytes: Type.Integer(),
          found_at: Time('When the release was discovered.'),
        },
        { title: 'Release', ...strict },
      ),
    ),
    update_available: Type.Boolean(),
    previous: Nullable(Type.String({ description: 'The version that a rollback restores.' })),
    rollback_copy: Nullable(
      Type.Object(
        {
          version: Type.String({
            description: 'Version of the platform that the database copy belongs to.',
          }),
          made_at: Time(),
          expires_at: Time('When the copy is deleted.'),
          size_bytes: Type.Integer(),
          lost_events: Type.Integer({
            description: 'Number of events since the copy, which a rollback discards.',
          }),
        },
        {
          title: 'RollbackCopy',
          ...strict,
          description:
            'The database copy from before the last update, if the update changed the schema.',
        },
      ),
    ),
    running: Nullable(Update),
  },
  {
    title: 'Updates',
    ...strict,
    examples: [
      {
        current: '0.1.13',
        source_configured: true,
        installable: true,
        latest: null,
        update_available: false,
        previous: null,
        rollback_copy: null,
        running: null,
      },
    ],
  },
);

export const UpdateRequest = Type.Object({ version }, { title: 'UpdateRequest', ...strict });

export const RollbackRequest = Type.Object(
  {
    discard_events: Type.Optional(
      Type.Boolean({
        description: 'Confirms that the events counted in `rollback_copy` may be discarded.',
      }),
    ),
  },
  { title: 'RollbackRequest', ...strict },
);

export const UpdateHistory = Type.Object(
  { items: Type.Array(Update) },
  { title: 'UpdateHistory', ...strict },
);
