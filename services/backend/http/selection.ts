/** List parameters that select values or, after `!`, exclude them. */
import Type from 'typebox';

const not = '!';

/** A parameter with one or more values, separated by commas. A leading `!` selects all other values. */
export function SomeOf(words: readonly string[], what: string) {
  const word = `(${words.join('|')})`;
  return Type.String({
    pattern: `^${not}?${word}(,${word})*$`,
    maxLength: 200,
    description: `${what}: ${words.join(', ')}. Separate multiple values with commas. A leading \`!\` excludes these values.`,
  });
}

/** Parses a list of values. */
export function wordsOf<Word extends string>(text: string, words: readonly Word[]): Word[] {
  const isNegated = text.startsWith(not);
  const named = new Set<string>((isNegated ? text.slice(1) : text).split(','));
  return words.filter((word) => named.has(word) !== isNegated);
}

/** A parameter with an ID. A leading `!` selects all other IDs. */
export function IdOrNot(of: string) {
  const hex = (digits: number) => `[0-9a-fA-F]{${digits}}`;
  return Type.String({
    pattern: `^${not}?${[8, 4, 4, 4, 12].map(hex).join('-')}$`,
    maxLength: 37,
    description: `ID of the ${of}. A leading \`!\` excludes the ${of}.`,
  });
}

/** Parses an ID and determines whether it is excluded. */
export function idOf<Id>(
  text: string | undefined,
  parse: (text: string) => Id | undefined,
): { readonly id?: Id; readonly notId?: Id } {
  if (text === undefined) return {};
  const isNegated = text.startsWith(not);
  const id = parse(isNegated ? text.slice(1) : text);
  if (id === undefined) return {};
  return isNegated ? { notId: id } : { id };
}
