/** The transaction commands MULTI, EXEC, DISCARD, WATCH and UNWATCH. */
import { noKeys, type Call, type Command } from '../command.ts';
import { failure, ok } from '../resp/replies.ts';

const common = {
  flags: ['noscript', 'loading', 'stale', 'fast', 'allow_busy'],
  keys: noKeys,
  access: 'member',
} as const;
const immediate = { ...common, transaction: 'immediate' } as const;

/** The commands that start and end transactions. `dispatch` executes EXEC for a connection in a transaction. */
export function transactionCommands(): readonly Command[] {
  return [
    {
      ...immediate,
      name: 'multi',
      arity: 1,
      run: ({ session }: Call) => {
        if (session.transaction !== undefined) return failure('ERR MULTI calls can not be nested');
        session.transaction = { queued: [], bytes: 0, isBroken: false };
        return ok;
      },
    },
    {
      ...immediate,
      name: 'exec',
      arity: 1,
      run: () => failure('ERR EXEC without MULTI'),
    },
    {
      ...immediate,
      name: 'discard',
      arity: 1,
      run: ({ session }: Call) => {
        if (session.transaction === undefined) return failure('ERR DISCARD without MULTI');
        session.transaction = undefined;
        return ok;
      },
    },
    {
      ...immediate,
      name: 'watch',
      arity: -2,
      keys: [1, -1, 1],
      run: ({ session }: Call) =>
        session.transaction === undefined
          ? failure('ERR WATCH is not supported. Use MULTI and EXEC without WATCH.')
          : failure('ERR WATCH inside MULTI is not allowed'),
    },
    { ...common, name: 'unwatch', arity: 1, run: () => ok },
  ];
}
