/** The entry point as an argument of the interpreter. Python has no `--` to end its options, so a name that begins with
 *  `-` gets the prefix `./`. Such names are refused now, but script versions from earlier releases may have them. */
export function entrypointArgument(entrypoint: string): string {
  return entrypoint.startsWith('-') ? `./${entrypoint}` : entrypoint;
}
