/** Verbs before the name of a script in the palette. */
const verbs = ['run', 'stop', 'enable', 'disable'] as const;
export type Verb = (typeof verbs)[number];

/** Splits typed text into verb and name; text without a verb is a name. */
export function readTyped(typed: string): { verb: Verb | undefined; name: string } {
  const wanted = typed.trim();
  const [first = '', ...rest] = wanted.split(/\s+/);
  const verb = verbs.find((one) => one === first.toLowerCase());
  return verb === undefined ? { verb, name: wanted } : { verb, name: rest.join(' ') };
}
