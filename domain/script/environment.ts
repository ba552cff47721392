/** Environment variables that users set for a script's runs (contract §5). */

/** Values of environment variables by name. */
export type EnvironmentVariables = Readonly<Record<string, string>>;

/** The maximum total size of all names and values. */
const maxBytes = 64 * 1024;
const nameShape = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** Like `PYTHON…`, `__PYVENV_LAUNCHER__` and `_PYTHON…` can make CPython load other packages. `Modules/getpath.py`
 *  and `sysconfig.py` read these variables on every system. */
const reservedShape = /^(LD_|_*PYTHON|ORCH_|(PATH|__PYVENV_LAUNCHER__)$)/;

/** Whether the platform reserves the variable. Reserved variables determine which code is executed, or identify the
 *  run. */
export function isReservedVariable(name: string): boolean {
  return reservedShape.test(name);
}

/** Describes the problem with environment variables. Returns `undefined` if they are valid. */
export function environmentProblem(variables: EnvironmentVariables): string | undefined {
  for (const name of Object.keys(variables)) {
    if (!nameShape.test(name)) return `"${name}" is not a valid variable name`;
    if (isReservedVariable(name)) return `"${name}" is reserved for the platform`;
  }
  const bytes = new TextEncoder().encode(Object.entries(variables).flat().join('')).length;
  return bytes > maxBytes ? `the variables exceed ${maxBytes} bytes` : undefined;
}
