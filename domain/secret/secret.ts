/** The types of secrets (contract §3, "Secret"). */
import { isReservedVariable } from '#domain/script/environment.ts';

/** Maximum size of one value, in UTF-8. */
export const maxSecretBytes = 32 * 1024;
/** Maximum number of secrets per owner. An owner is a script or a group. */
export const maxSecrets = 100;
/** Maximum total size of secrets per owner. The secrets and the environment variables must fit into the environment
 *  of one process. */
export const maxSecretsBytes = 128 * 1024;

export const maxRotationDays = 3_650;

const nameShape = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Whether `name` is a valid secret name. The rules for environment variables apply. */
export function isSecretName(name: string): boolean {
  return nameShape.test(name);
}

/** Describes why a secret with this name cannot be an environment variable. Returns `undefined` if it can. */
export function variableProblem(name: string): string | undefined {
  return isReservedVariable(name)
    ? `"${name}" is reserved for the platform and cannot be exposed as an environment variable`
    : undefined;
}
