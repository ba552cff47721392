/** Removing scripts for good on the wire. */
import Type from 'typebox';
import { examples, Uuid } from '../http/schema.ts';

export const Purge = Type.Object(
  {
    script_id: Uuid(),
    state: Type.Enum(['started', 'finished'], {
      description:
        '`finished`: nothing is left but the history, neither in the stores nor on a runtime that is alive. A runtime that is away removes what it keeps as soon as it is back.',
    }),
  },
  {
    title: 'Purge',
    additionalProperties: false,
    examples: [{ script_id: examples.scriptId, state: 'started' }],
  },
);
