/** The history of a run on the wire. */
import Type from 'typebox';
import { ChainOccurrence } from './chain.ts';
import { Nullable, Time, Uuid } from './common.ts';

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
    causation_id: Nullable(Uuid('The event that this one answers to.')),
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
          decision: Type.Enum(['queued', 'held', 'released', 'started', 'stop_requested', 'ended']),
          reason: Type.String({ description: 'One sentence.' }),
          event: Event,
          cause: Nullable(Event),
        },
        { title: 'RunReason', additionalProperties: false },
      ),
    ),
    followed_by: Type.Array(Uuid(), { description: 'Runs that are a further attempt of it.' }),
    chained: Type.Array(
      Type.Object(
        { chain_id: Uuid(), ...ChainOccurrence.properties },
        { title: 'ChainedRun', additionalProperties: false },
      ),
      { description: 'What chains started when it had ended, or why they did not.' },
    ),
  },
  { title: 'RunReasons', additionalProperties: false },
);
