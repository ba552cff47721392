/** Rejects changes to protected scripts that only administrators may make. */
import type { Principal } from '#domain/kernel/actor.ts';
import type { ScriptId } from '#domain/kernel/ids.ts';
import { hasRightAnywhere } from '#domain/kernel/rights.ts';
import type { Protection } from '#domain/script/settings.ts';
import { findScript } from '#projections/scripts/queries.ts';
import { problem, type Problem } from '../http/problem.ts';
import type { Services } from '../services.ts';

interface Wanted {
  readonly protected?: Partial<Protection>;
  readonly keep_alive?: boolean;
}

interface Present {
  readonly protected: Protection;
  readonly keep_alive: boolean;
}

const unprotected: Present = { protected: { run: false, save: false }, keep_alive: false };

const onlyAdministrators = problem(
  'forbidden',
  'Only administrators may change which actions require approval.',
);

const onlyAdministratorsAutomate = problem(
  'forbidden',
  'Runs of this script require approval, so only administrators may set up automatic runs.',
);

/** The reason why the caller may not change the protection of a script, or make a protected script always on.
 *  @param present the existing script; absent for a new script */
export function protectionProblem(
  wanted: Wanted,
  principal: Principal,
  present: Present = unprotected,
): Problem | undefined {
  if (hasRightAnywhere(principal, 'system.manage')) return undefined;
  const protection = { ...present.protected, ...wanted.protected };
  const { run, save } = present.protected;
  if (protection.run !== run || protection.save !== save) return onlyAdministrators;
  const becomesAlwaysOn = wanted.keep_alive === true && !present.keep_alive;
  return protection.run && becomesAlwaysOn ? onlyAdministratorsAutomate : undefined;
}

/** The reason why the caller may not set up automatic runs of a script. Automatic runs need no approval. */
export async function automationProblem(
  scriptId: ScriptId,
  principal: Principal,
  { readModels }: Services,
): Promise<Problem | undefined> {
  if (hasRightAnywhere(principal, 'system.manage')) return undefined;
  const script = await findScript(readModels, scriptId);
  return script?.protected.run === true ? onlyAdministratorsAutomate : undefined;
}
