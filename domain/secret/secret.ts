/** The types of secrets (contract §3, "Secret"). */
import { isReservedVariable } from '#domain/script/environment.ts';

/** Maximum size of one value in UTF-8. */
export const maxSecretBytes = 32 * 1024;
/** Maximum number per owner, which is a script or a group. */
export const maxSecrets = 100;
/** Maximum total size per owner. The values and the environment variables together must fit into the environment of
 *  a process. */
export const maxSecretsBytes = 128 * 1024;

export const maxRotationDays = 3_650;

const nameShape = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Whether `name` is a valid name of a secret. The rules for environment variables apply. */
export function isSecretName(name: string): boolean {
  return nameShape.test(name);
}

/** Describes why a secret of this name cannot be an environment variable; `undefined` if it can. */
export function variableProblem(name: string): string | undefined {
  return isReservedVariable(name)
    ? `"${name}" is reserved for the platform and cannot be exposed as an environment variable`
    : undefined;
}
