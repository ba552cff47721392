/** The wire format of runtimes. */
import Type from 'typebox';
import { Exact, examples, Nullable, Time } from '../http/schema.ts';

export const runtimeStates = ['active', 'draining', 'drained'] as const;

const count = Type.Integer({ minimum: 0 });

export const Runtime = Exact(
  {
    runtime_id: Type.String(),
    id: Type.String({ description: 'Alias of `runtime_id`.' }),
    state: Type.Enum([...runtimeStates], {
      description:
        '`active`: starts new runs. `draining`: finishes its runs and starts no new ones. `drained`: has no runs left.',
    }),
    labels: Type.Array(Type.String()),
    slots: Type.Integer({
      minimum: 0,
      description: 'Number of runs that the runtime executes concurrently.',
    }),
    active_runs: count,
    python: Nullable(Type.String({ description: 'Version of the interpreter for scripts.' })),
    started_at: Time(),
    seen_at: Time(),
  },
  {
    title: 'Runtime',
    examples: [
      {
        runtime_id: 'runtime-1',
        id: 'runtime-1',
        state: 'active',
        labels: ['gpu', 'zone-b'],
        slots: 4,
        active_runs: 1,
        python: '3.13.1',
        started_at: examples.time,
        seen_at: examples.time,
      },
    ],
  },
);

export const RuntimeItems = Exact({ items: Type.Array(Runtime) }, { title: 'RuntimeItems' });
