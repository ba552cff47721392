/** Pools: limits that scripts share (docs/pools.md). */
import type { StreamId } from '#domain/kernel/event.ts';
import { labelPattern } from '#domain/script/labels.ts';

export const maxPoolLimit = 100_000;
/** The maximum number of pools of a script. */
export const maxPools = 8;

/** Describes the problem with a pool's name; `undefined` if it is valid. */
export function poolNameProblem(name: string): string | undefined {
  return labelPattern.test(name)
    ? undefined
    : `"${name}" is not a pool name; use up to 63 letters, digits, dots, dashes and underscores`;
}

/** Describes the problem with the pools of a script; `undefined` if they are valid. */
export function poolsProblem(names: readonly string[]): string | undefined {
  if (names.length > maxPools) return `there are more than ${maxPools}`;
  if (new Set(names).size < names.length) return 'a pool is listed twice';
  return names.map(poolNameProblem).find((problem) => problem !== undefined);
}

/** A stream that is locked but never written. A command holds this lock while it assigns a slot of the pool, or
 *  changes which scripts use the pool. */
export function poolLock(name: string): StreamId {
  return `pool_lock-${name}`;
}
