/** The vocabulary of secrets (contract §3, "Secret"). */
import { isReservedVariable } from '#domain/script/environment.ts';

/** Of one value in UTF-8. */
export const maxSecretBytes = 32 * 1024;
/** Of one script. */
export const maxSecrets = 100;
/** Of all values of one script: they have to fit a process's environment beside its variables. */
export const maxSecretsBytes = 128 * 1024;

const nameShape = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Whether `name` can name a secret: it is made like the name of a variable. */
export function isSecretName(name: string): boolean {
  return nameShape.test(name);
}

/** What is wrong with a secret of this name as a variable of a run; `undefined` for nothing. */
export function variableProblem(name: string): string | undefined {
  return isReservedVariable(name)
    ? `"${name}" is reserved for the platform and cannot be exposed as an environment variable`
    : undefined;
}
