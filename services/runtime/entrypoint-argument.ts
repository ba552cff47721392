/** The entry point as an argument of the interpreter, which cannot end its options: one that begins with `-` gets its
 *  folder as a prefix. New ones are refused, but versions of earlier releases may have one. */
export function entrypointArgument(entrypoint: string): string {
  return entrypoint.startsWith('-') ? `./${entrypoint}` : entrypoint;
}
