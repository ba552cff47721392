import type { Aggregate, PoolFacts } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import type { PoolCommand } from './commands.ts';
import type { PoolEvent } from './events.ts';
import { maxPoolLimit, poolLock, poolNameProblem } from './pool.ts';
import { evolvePool, initialPool, type PoolState } from './state.ts';

export interface PoolDecisionFacts {
  /** The pool that the command refers to by name. `undefined` if the pool does not exist. */
  readonly named: PoolFacts | undefined;
  /** Whether any script uses the pool. Deleted scripts count. */
  readonly inUse: boolean;
}

export function decidePool(
  state: PoolState,
  command: PoolCommand,
  { named, inUse }: PoolDecisionFacts,
): Decision<PoolEvent> {
  const { poolId } = command;
  switch (command.type) {
    case 'CreatePool': {
      if (state.status !== 'absent') return accept();
      const { name, limit } = command;
      const problem = poolNameProblem(name);
      if (problem !== undefined)
        return refuse('validation_failed', `The name is not valid: ${problem}.`);
      if (!isLimit(limit)) return noLimit;
      return named === undefined
        ? accept({ type: 'PoolCreated', data: { poolId, name, limit } })
        : refuse('already_exists', 'Another pool already has this name.');
    }
    case 'ChangePool': {
      if (state.status !== 'present') return refuse('not_found', 'Pool not found.');
      const { limit } = command;
      if (!isLimit(limit)) return noLimit;
      if (state.limit === limit) return accept();
      return accept({ type: 'PoolChanged', data: { poolId, limit } });
    }
    case 'DeletePool':
      if (state.status === 'deleted') return accept();
      if (state.status === 'absent') return refuse('not_found', 'Pool not found.');
      return inUse
        ? refuse(
            'pool_in_use',
            'The pool is still in use, possibly by deleted scripts. Remove the pool from the settings of those ' +
              'scripts first.',
          )
        : accept({ type: 'PoolDeleted', data: { poolId } });
  }
}

const noLimit = refuse('validation_failed', `The limit must be between 0 and ${maxPoolLimit}.`);

function isLimit(limit: number): boolean {
  return Number.isInteger(limit) && limit >= 0 && limit <= maxPoolLimit;
}

const guardsOf = (command: PoolCommand) =>
  command.type === 'ChangePool' ? [] : [poolLock(command.name)];

export const poolAggregate: Aggregate<PoolState, PoolCommand, PoolEvent, PoolDecisionFacts> = {
  streamType: 'pool',
  commands: { CreatePool: true, ChangePool: true, DeletePool: true },
  events: { PoolCreated: true, PoolChanged: true, PoolDeleted: true },
  initial: initialPool,
  evolve: evolvePool,
  stateVersion: 1,
  decide: decidePool,
  streamOf: (command) => `pool-${command.poolId}`,
  guards: guardsOf,
  exclusiveGuards: guardsOf,
  readFacts: async (command, reads) => ({
    named: command.type === 'CreatePool' ? await reads.pool(command.name) : undefined,
    inUse: command.type === 'DeletePool' && (await reads.poolInUse(command.name)),
  }),
};
