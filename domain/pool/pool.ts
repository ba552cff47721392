/** Pools: concurrency limits that several scripts share (docs/pools.md). */
import type { StreamId } from '#domain/kernel/event.ts';
import { labelPattern } from '#domain/script/labels.ts';

export const maxPoolLimit = 100_000;
/** The maximum number of pools that a script may use. */
export const maxPools = 8;

/** Describes the problem with a pool name. Returns `undefined` if the name is valid. */
export function poolNameProblem(name: string): string | undefined {
  return labelPattern.test(name)
    ? undefined
    : `"${name}" is not a pool name; use up to 63 letters, digits, dots, dashes and underscores`;
}

/** Describes the problem with a script's pools. Returns `undefined` if the pools are valid. */
export function poolsProblem(names: readonly string[]): string | undefined {
  if (names.length > maxPools) return `there are more than ${maxPools}`;
  if (new Set(names).size < names.length) return 'a pool is listed twice';
  return names.map(poolNameProblem).find((problem) => problem !== undefined);
}

/** Returns the stream ID of a pool's lock. Commands hold this lock while they assign a slot of the pool or change
 *  which scripts use the pool. The stream contains no events. */
export function poolLock(name: string): StreamId {
  return `pool_lock-${name}`;
}
