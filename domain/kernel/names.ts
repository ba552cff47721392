/** Which text may name something (docs/adr/0024). Rules hold where a name is given: names that were stored before
 *  stay as they are. */

/** Of the scripts whose words are written with joiners. */
const joined = 'Arab|Syrc|Deva|Beng|Guru|Gujr|Orya|Taml|Telu|Knda|Mlym|Sinh|Khmr|Mymr|Tibt'
  .split('|')
  .map((script) => `\\p{sc=${script}}`)
  .join('');
const withinWord = new RegExp(`(?<=[${joined}])[\\u200c\\u200d](?=[${joined}])`, 'gu');
/** A picture that emoji are joined to, with what changes its look. */
const withinEmoji =
  /(?<=\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?)\u200d(?=\p{Extended_Pictographic})|(?<=\p{Emoji})\ufe0f/gu;

const refused: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/[\p{Cc}\p{Zl}\p{Zp}]/u, 'a control character'],
  [
    /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u,
    'an invisible or direction-changing character',
  ],
  [/(?! )\p{Zs}/u, 'an unusual space'],
  [/[\p{Co}\p{Cn}\p{Cs}\ufffc\ufffd]/u, 'a private, unassigned or placeholder character'],
];

/** What is wrong with a name, such as `has an unusual space (U+00A0)…`; `undefined` for nothing. */
export function nameProblem(name: string): string | undefined {
  // Joiners that are part of an emoji or of a word's spelling do not count.
  const text = name.replaceAll(withinEmoji, '').replaceAll(withinWord, '');
  for (const [pattern, what] of refused) {
    const [character] = pattern.exec(text) ?? [];
    if (character !== undefined) return `contains ${what} (${codeOf(character)}); remove it`;
  }
  return name === name.normalize('NFC')
    ? undefined
    : 'is not in Unicode normalization form NFC; write accented letters as single characters';
}

/** The first problem among names that are not there yet. */
export function newNameProblem(
  what: string,
  wanted: string | readonly string[] | undefined,
  present: string | readonly string[] = [],
): string | undefined {
  return newProblem(what, wanted, present, (name) => nameProblem(name) ?? spacingProblem(name));
}

/** The same for a path, whose spaces may be where they want. */
export function newPathProblem(
  what: string,
  wanted: string | undefined,
  present: string | readonly string[] = [],
): string | undefined {
  return newProblem(what, wanted, present, nameProblem);
}

function newProblem(
  what: string,
  wanted: string | readonly string[] | undefined,
  present: string | readonly string[],
  problemOf: (name: string) => string | undefined,
): string | undefined {
  const known = new Set([present].flat());
  for (const name of [wanted ?? []].flat()) {
    const problem = known.has(name) ? undefined : problemOf(name);
    if (problem !== undefined) return `The ${what} ${problem}.`;
  }
  return undefined;
}

/** Pages show several spaces as one, and none at the ends. */
function spacingProblem(name: string): string | undefined {
  if (name !== name.trim()) return 'begins or ends with a space; remove it';
  return name.includes('  ') ? 'contains two consecutive spaces; remove one' : undefined;
}

/** Letters and digits of every script, and what ASCII has besides spaces. */
const addressCharacters = /^[\p{L}\p{M}\p{N}\x21-\x7e]*$/u;
const latin = /\p{sc=Latin}/u;
const lookalike = /[\p{sc=Cyrillic}\p{sc=Greek}]/u;

/** What is wrong with an e-mail address that names an account; `undefined` for nothing. */
export function emailProblem(email: string): string | undefined {
  const problem = nameProblem(email);
  if (problem !== undefined) return `The e-mail address ${problem}.`;
  if (!addressCharacters.test(email)) {
    return 'The e-mail address may contain letters, digits and ASCII characters only.';
  }
  if (email !== email.normalize('NFKC')) {
    return 'The e-mail address contains a compatibility character. Use the plain characters instead.';
  }
  const isMixed = email.split(/[@.]/).some((part) => latin.test(part) && lookalike.test(part));
  return isMixed
    ? 'The e-mail address mixes Latin letters with similar-looking Cyrillic or Greek letters.'
    : undefined;
}

function codeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
