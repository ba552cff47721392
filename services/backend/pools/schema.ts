/** The wire format of pools (contract part 2, "Teams"). */
import { maxPoolLimit } from '#domain/pool/pool.ts';
import Type from 'typebox';
import { examples, Uuid } from '../http/schema.ts';

// The domain validates the name and explains the problem.
const name = Type.String({
  minLength: 1,
  maxLength: 63,
  description: 'Up to 63 letters, digits, dots, dashes and underscores. Unique and permanent.',
});
const limit = Type.Integer({
  minimum: 0,
  maximum: maxPoolLimit,
  description: 'Maximum number of concurrent runs. With 0, no run starts.',
});

export const NewPool = Type.Object(
  { name, limit },
  { title: 'PoolInput', additionalProperties: false },
);

export const PoolChanges = Type.Object(
  { limit },
  { title: 'PoolChanges', additionalProperties: false },
);

export const Pool = Type.Object(
  {
    id: Uuid(),
    name,
    limit,
    active_runs: Type.Integer({
      minimum: 0,
      description: 'Runs that are running or ready to start.',
    }),
    waiting_runs: Type.Integer({ minimum: 0 }),
  },
  {
    title: 'Pool',
    additionalProperties: false,
    examples: [
      { id: examples.poolId, name: 'crm-api', limit: 3, active_runs: 3, waiting_runs: 12 },
    ],
  },
);

export const PoolItems = Type.Object(
  { items: Type.Array(Pool) },
  { title: 'PoolItems', additionalProperties: false },
);
