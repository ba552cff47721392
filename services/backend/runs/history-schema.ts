/** The wire format of a run's history. */
import { triggerTypes } from '#domain/run/run.ts';
import Type from 'typebox';
import { ChainOccurrence } from '../chains/schema.ts';
import { Nullable, Time, Uuid } from '../http/schema.ts';

const Event = Type.Object(
  {
    event_id: Uuid(),
    position: Type.Integer({ minimum: 0 }),
    stream: Type.String(),
    version: Type.Integer({ minimum: 1 }),
    type: Type.String(),
    time: Time(),
    actor: Type.String(),
    correlation_id: Type.String(),
    causation_id: Nullable(Uuid('The event that caused this event.')),
    data: Type.Object({}, { additionalProperties: true }),
  },
  { title: 'Event', additionalProperties: false },
);

export const RunEvents = Type.Object(
  { items: Type.Array(Event) },
  { title: 'RunEvents', additionalProperties: false },
);

export const RunReasons = Type.Object(
  {
    run_id: Uuid(),
    items: Type.Array(
      Type.Object(
        {
          decision: Type.Enum([
            'queued',
            'held',
            'approval_requested',
            'approved',
            'rejected',
            'approval_expired',
            'approval_withdrawn',
            'released',
            'started',
            'stop_requested',
            'ended',
          ]),
          reason: Type.String({ description: 'The reason, as a sentence.' }),
          event: Event,
          cause: Nullable(Event),
        },
        { title: 'RunReason', additionalProperties: false },
      ),
    ),
    followed_by: Type.Array(Uuid(), { description: 'Retries of the run.' }),
    chained: Type.Array(
      Type.Object(
        { chain_id: Uuid(), ...ChainOccurrence.properties },
        { title: 'ChainedRun', additionalProperties: false },
      ),
      {
        description:
          'Chains from the run, each with the downstream run or the reason why none was started.',
      },
    ),
  },
  { title: 'RunReasons', additionalProperties: false },
);

export const RunCauses = Type.Object(
  {
    run_id: Uuid(),
    causes: Type.Array(
      Type.Object(
        {
          run_id: Uuid(),
          script_id: Uuid(),
          script_name: Type.String(),
          trigger_type: Type.Enum(triggerTypes),
          schedule_id: Nullable(Uuid()),
          webhook_id: Nullable(Uuid()),
          chain_id: Nullable(Uuid()),
          reason: Type.String({ description: 'The reason, as a sentence.' }),
          time: Time(),
          actor: Type.String(),
          event_position: Type.Integer({ minimum: 1 }),
        },
        { title: 'RunCause', additionalProperties: false },
      ),
      { description: 'The run itself, followed by its upstream runs, nearest first.' },
    ),
    effects: Type.Array(
      Type.Object(
        {
          depth: Type.Integer({ minimum: 1, description: '1 for a direct effect of the run.' }),
          caused_by: Type.String({ description: 'The stream, such as `run-<id>`.' }),
          action: Type.String({
            description: 'Action as shown in the audit trail, such as `run_queued`.',
          }),
          resource: Type.String(),
          script_id: Nullable(
            Uuid(
              'The script of the run or message, or the target that the chain did not start; ' +
                '`null` if you do not ' +
                'have access to it.',
            ),
          ),
          script_name: Nullable(Type.String({ description: 'Current name of the script.' })),
          detail: Nullable(Type.String()),
          time: Time(),
          actor: Type.String(),
          event_position: Type.Integer({ minimum: 1 }),
        },
        { title: 'RunEffect', additionalProperties: false },
      ),
    ),
  },
  { title: 'RunCauses', additionalProperties: false },
);
