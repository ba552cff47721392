/** The wire format of run spans. */
import Type from 'typebox';
import { runStatuses } from '#domain/run/run.ts';
import { examples, Nullable, Time, Uuid } from '../http/schema.ts';

const spanExample = {
  span_id: '6f1f7a0e4c2b9d35',
  parent_id: 'run',
  name: 'fetch',
  kind: 'script',
  started_at: examples.time,
  ended_at: examples.time,
  status: 'ok',
  attributes: { url: 'https://example.com/items' },
};

export const RunSpan = Type.Object(
  {
    span_id: Type.String({
      description:
        '16 hexadecimal digits, or the name of a platform step: `queue`, `environment`, `start`, ' +
        '`run`, `report`.',
    }),
    parent_id: Nullable(Type.String()),
    name: Type.String(),
    kind: Type.Enum(['platform', 'script']),
    started_at: Time(),
    ended_at: Nullable(Time()),
    status: Type.Enum(['running', 'ok', 'error', 'unfinished'], {
      description:
        '`error`: the block raised an exception, or the run failed in this step. `unfinished`: ' +
        'the run ended while the span was active.',
    }),
    attributes: Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          'Attributes of the span, at most 4096 bytes. Secrets are masked as in the log.',
      },
    ),
  },
  { title: 'RunSpan', additionalProperties: false, examples: [spanExample] },
);

export const RunSpanItems = Type.Object(
  { items: Type.Array(RunSpan) },
  { title: 'RunSpanItems', additionalProperties: false },
);

const RelatedRun = Type.Object(
  {
    run_id: Uuid(),
    cause_run_id: Nullable(
      Uuid('The upstream run that led to this run; `null` for the first run.'),
    ),
    relation: Nullable(
      Type.Enum(['retry', 'chain', 'script'], {
        description:
          'How the upstream run led to this run. `script`: requested by the script of the upstream run.',
      }),
    ),
    script_id: Uuid(),
    script_name: Type.String(),
    status: Type.Enum(runStatuses),
    attempt: Type.Integer({ minimum: 1 }),
    queued_at: Time(),
    started_at: Nullable(Time()),
    finished_at: Nullable(Time()),
    critical: Type.Boolean({
      description:
        'Whether the run is on the critical path, which determined when the last run ended.',
    }),
  },
  { title: 'RelatedRun', additionalProperties: false },
);

export const RelatedRunItems = Type.Object(
  { items: Type.Array(RelatedRun) },
  { title: 'RelatedRunItems', additionalProperties: false },
);
