/** What can be typed in the palette before the name of a script. */
const verbs = ['run', 'stop', 'enable', 'disable'] as const;
export type Verb = (typeof verbs)[number];

/** What is typed, as a verb and the name that follows it; without a verb it is all a name. */
export function readTyped(typed: string): { verb: Verb | undefined; name: string } {
  const wanted = typed.trim();
  const [first = '', ...rest] = wanted.split(/\s+/);
  const verb = verbs.find((one) => one === first.toLowerCase());
  return verb === undefined ? { verb, name: wanted } : { verb, name: rest.join(' ') };
}
