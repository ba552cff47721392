/** Parses a verb before a script name in the command palette. */
const verbs = ['run', 'stop', 'enable', 'disable'] as const;
export type Verb = (typeof verbs)[number];

/** Splits the typed text into a verb and a name. Without a verb, the whole text is the name. */
export function readTyped(typed: string): { verb: Verb | undefined; name: string } {
  const wanted = typed.trim();
  const [first = '', ...rest] = wanted.split(/\s+/);
  const verb = verbs.find((one) => one === first.toLowerCase());
  return verb === undefined ? { verb, name: wanted } : { verb, name: rest.join(' ') };
}
