/** Returns the entry point as an argument for the interpreter. Python has no `--` to mark the end of its options, so
 *  a name that begins with `-` gets the prefix `./`. New scripts cannot use such names, but versions from earlier
 *  releases may. */
export function entrypointArgument(entrypoint: string): string {
  return entrypoint.startsWith('-') ? `./${entrypoint}` : entrypoint;
}
