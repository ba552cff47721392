/** The entry point as an argument of the interpreter, which has no way to end its options: one that
 *  begins with `-` is led in by its folder. New ones are refused; versions of before may have one. */
export function entrypointArgument(entrypoint: string): string {
  return entrypoint.startsWith('-') ? `./${entrypoint}` : entrypoint;
}
