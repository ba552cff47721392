/** Removing scripts for good on the wire. */
import Type from 'typebox';
import { examples, Uuid } from './common.ts';

export const Purge = Type.Object(
  {
    script_id: Uuid(),
    state: Type.Enum(['started', 'finished'], {
      description: '`finished`: nothing is left in the stores but the history.',
    }),
  },
  {
    title: 'Purge',
    additionalProperties: false,
    examples: [{ script_id: examples.scriptId, state: 'started' }],
  },
);
