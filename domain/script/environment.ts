/** Environment variables that a script's author defines for its runs (contract §5). */

/** Values by name. */
export type EnvironmentVariables = Readonly<Record<string, string>>;

/** Total size of all names and values. */
const maxBytes = 64 * 1024;
const nameShape = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** `__PYVENV_LAUNCHER__` and `_PYTHON…` make CPython load other packages, as `PYTHON…` does: Modules/getpath.py
 *  and sysconfig.py read them on every system. */
const reservedShape = /^(LD_|_*PYTHON|ORCH_|(PATH|__PYVENV_LAUNCHER__)$)/;

/** Whether the variable is reserved for the platform, because it selects the executed code or identifies the run. */
export function isReservedVariable(name: string): boolean {
  return reservedShape.test(name);
}

/** Describes the problem with the variables; `undefined` if they are valid. */
export function environmentProblem(variables: EnvironmentVariables): string | undefined {
  for (const name of Object.keys(variables)) {
    if (!nameShape.test(name)) return `"${name}" is not a valid variable name`;
    if (isReservedVariable(name)) return `"${name}" is reserved for the platform`;
  }
  const bytes = new TextEncoder().encode(Object.entries(variables).flat().join('')).length;
  return bytes > maxBytes ? `the variables exceed ${maxBytes} bytes` : undefined;
}
