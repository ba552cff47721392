/** Provides the environment for a script version. All runs of a version use the packages that its first run resolved
 *  (contract §3, "Script"). */
import type { EnvironmentLocks, LockPlace } from '#domain/ports/environment-locks.ts';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import type {
  EnvironmentRequest,
  EnvironmentResult,
  Environments,
} from './environments/environments.ts';
import { readRequirements } from './environments/requirements.ts';

export interface LockedEnvironmentDeps {
  readonly environments: Pick<Environments, 'ensure' | 'targetOf'>;
  readonly locks: Pick<EnvironmentLocks, 'find' | 'record'>;
}

/** Builds the environment from the recorded lock, or resolves the requirements and records the lock. If two runtimes
 *  resolve the requirements concurrently, the first recorded lock wins, and the other runtime also builds from this
 *  lock.
 *  @throws the errors of `Environments.ensure`, or an error if the locks are unavailable */
export async function lockedEnvironment(
  { environments, locks }: LockedEnvironmentDeps,
  { scriptId, scriptVersion }: Pick<ClaimedRun, 'scriptId' | 'scriptVersion'>,
  request: Omit<EnvironmentRequest, 'lock' | 'scriptId'>,
): Promise<EnvironmentResult> {
  const ensure = (lock?: string) =>
    environments.ensure({ ...request, scriptId, ...(lock !== undefined && { lock }) });
  if (readRequirements(request.requirements).kind === 'none') return await ensure();
  const target = await environments.targetOf(request.pythonPath);
  const place: LockPlace = { scriptId, scriptVersion, target };
  const locked = await locks.find(place);
  if (locked !== undefined) return withAdvice(await ensure(locked));
  const chosen = await ensure();
  if (chosen.status === 'failed') return chosen;
  const recorded = await orRelease(chosen, locks.record(place, chosen.lock));
  if (recorded === chosen.lock) return chosen;
  chosen.release();
  return withAdvice(await ensure(recorded));
}

async function orRelease<Result>(
  { release }: Extract<EnvironmentResult, { status: 'ready' }>,
  work: Promise<Result>,
): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    release();
    throw error;
  }
}

const advice =
  "The packages were resolved at the first run of this version. Rebuild the script's environment to " +
  'resolve them again.';

function withAdvice(result: EnvironmentResult): EnvironmentResult {
  return result.status === 'failed' ? { ...result, detail: `${result.detail}\n${advice}` } : result;
}
