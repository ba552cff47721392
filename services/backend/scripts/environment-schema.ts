/** The wire format of script environments. */
import Type from 'typebox';
import { Exact, examples, Time, Uuid } from '../http/schema.ts';

const Package = Exact(
  {
    name: Type.String(),
    version: Type.String(),
    hashes: Type.Array(Type.String(), {
      description:
        'Only files with one of these hashes are installed. Empty if the hashes are unknown.',
    }),
  },
  { title: 'LockedPackage' },
);

export const Environment = Exact(
  {
    script_id: Uuid(),
    version: Type.Integer({ minimum: 1 }),
    locks: Type.Array(
      Exact(
        {
          target: Type.String({
            description: 'Operating system, machine type and interpreter version.',
          }),
          locked_at: Time(),
          packages: Type.Array(Package),
        },
        { title: 'EnvironmentLock' },
      ),
    ),
  },
  {
    title: 'Environment',
    examples: [
      {
        script_id: examples.scriptId,
        version: 3,
        locks: [
          {
            target: 'Linux-x86_64-cpython-312',
            locked_at: examples.time,
            packages: [{ name: 'six', version: '1.17.0', hashes: [`sha256:${examples.sha256}`] }],
          },
        ],
      },
    ],
  },
);
