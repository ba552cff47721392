/** Spans of runs on the wire. */
import Type from 'typebox';
import { examples, Nullable, Time } from '../http/schema.ts';

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
        '16 hexadecimal digits, or the name of a step of the platform: `queue`, `environment`, `start`, `run`, `report`.',
    }),
    parent_id: Nullable(Type.String()),
    name: Type.String(),
    kind: Type.Enum(['platform', 'script']),
    started_at: Time(),
    ended_at: Nullable(Time()),
    status: Type.Enum(['running', 'ok', 'error', 'unfinished'], {
      description:
        '`error`: an exception left the block, or the run failed in this step. `unfinished`: the run ended before the span.',
    }),
    attributes: Type.Object(
      {},
      { additionalProperties: true, description: 'Masked like the log. At most 4096 bytes.' },
    ),
  },
  { title: 'RunSpan', additionalProperties: false, examples: [spanExample] },
);

export const RunSpanItems = Type.Object(
  { items: Type.Array(RunSpan) },
  { title: 'RunSpanItems', additionalProperties: false },
);
