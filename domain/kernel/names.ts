/** Rules for names (docs/adr/0024). The rules apply only to new names. Stored names remain valid. */

/** Writing systems whose words may contain zero-width joiners and non-joiners. */
const joined = 'Arab|Syrc|Deva|Beng|Guru|Gujr|Orya|Taml|Telu|Knda|Mlym|Sinh|Khmr|Mymr|Tibt'
  .split('|')
  .map((script) => `\\p{sc=${script}}`)
  .join('');
const withinWord = new RegExp(`(?<=[${joined}])[\\u200c\\u200d](?=[${joined}])`, 'gu');
/** Joiners between two emoji, and emoji variation selectors. */
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

/** Describes the problem with a name, such as `contains an unusual space (U+00A0); remove it`. Returns `undefined`
 *  if the name is valid. */
export function nameProblem(name: string): string | undefined {
  // Joiners inside emoji and words are allowed.
  const text = name.replaceAll(withinEmoji, '').replaceAll(withinWord, '');
  for (const [pattern, what] of refused) {
    const [character] = pattern.exec(text) ?? [];
    if (character !== undefined) return `contains ${what} (${codeOf(character)}); remove it`;
  }
  return name === name.normalize('NFC')
    ? undefined
    : 'is not in Unicode normalization form NFC; write accented letters as single characters';
}

/** Describes the problem with the first invalid name in `names`. Names that already exist are not checked. Returns
 *  `undefined` if all names are valid. */
export function newNameProblem(
  what: string,
  wanted: string | readonly string[] | undefined,
  present: string | readonly string[] = [],
): string | undefined {
  return newProblem(what, wanted, present, (name) => nameProblem(name) ?? spacingProblem(name));
}

/** Like `newNameProblem`, but for paths. Unlike a name, a path may contain spaces anywhere. */
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

/** HTML collapses repeated spaces and trims leading and trailing spaces. */
function spacingProblem(name: string): string | undefined {
  if (name !== name.trim()) return 'begins or ends with a space; remove it';
  return name.includes('  ') ? 'contains two consecutive spaces; remove one' : undefined;
}

/** The letters and digits of all writing systems, and printable ASCII except the space. */
const addressCharacters = /^[\p{L}\p{M}\p{N}\x21-\x7e]*$/u;
const latin = /\p{sc=Latin}/u;
const lookalike = /[\p{sc=Cyrillic}\p{sc=Greek}]/u;

/** Describes the problem with an account's email address. Returns `undefined` if the address is valid. */
export function emailProblem(email: string): string | undefined {
  const problem = nameProblem(email);
  if (problem !== undefined) return `The email address ${problem}.`;
  if (!addressCharacters.test(email)) {
    return 'The email address may contain letters, digits and ASCII characters only.';
  }
  if (email !== email.normalize('NFKC')) {
    return 'The email address contains a compatibility character. Use the plain characters instead.';
  }
  const isMixed = email.split(/[@.]/).some((part) => latin.test(part) && lookalike.test(part));
  return isMixed
    ? 'The email address mixes Latin letters with similar-looking Cyrillic or Greek letters.'
    : undefined;
}

function codeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
