/** The variables that a script's author gives its runs (contract §5). */

/** By name. */
export type EnvironmentVariables = Readonly<Record<string, string>>;

/** Of all names and values together. */
const maxBytes = 64 * 1024;
const nameShape = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** `__PYVENV_LAUNCHER__` and `_PYTHON…` lead CPython to other packages, as `PYTHON…` does: Modules/getpath.py and
 *  sysconfig.py read them on every system. */
const reservedShape = /^(LD_|_*PYTHON|ORCH_|(PATH|__PYVENV_LAUNCHER__)$)/;

/** Whether the platform alone may set the variable: it decides which code runs, or says who runs. */
export function isReservedVariable(name: string): boolean {
  return reservedShape.test(name);
}

/** What is wrong with the variables; `undefined` for nothing. */
export function environmentProblem(variables: EnvironmentVariables): string | undefined {
  for (const name of Object.keys(variables)) {
    if (!nameShape.test(name)) return `"${name}" is not a valid variable name`;
    if (isReservedVariable(name)) return `"${name}" is reserved for the platform`;
  }
  const bytes = new TextEncoder().encode(Object.entries(variables).flat().join('')).length;
  return bytes > maxBytes ? `the variables exceed ${maxBytes} bytes` : undefined;
}
