/** Parses inline commands, which users type as words, with Redis's quoting rules. */

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  a: '\u0007',
};

/** Match a word, with or without quotes. After a quoted word, a space or the end of the line must follow. */
const quoted = /"((?:[^"\\]|\\[^])*)"(?![^ \t\n\v\f\r])/y;
const literal = /'((?:[^'\\]|\\[^])*)'(?![^ \t\n\v\f\r])/y;
const plain = /[^ \t\n\v\f\r"']+/y;
const space = /[ \t\n\v\f\r]*/y;

/** Returns the words of a line, or `undefined` if its quotes are unbalanced. */
export function splitInline(line: Buffer): Buffer[] | undefined {
  const text = line.toString('latin1');
  const words: Buffer[] = [];
  let at = lengthAt(space, text, 0);
  while (at < text.length) {
    let word = '';
    for (const start = at; at < text.length && (at === start || !isSpace(text[at]));) {
      const part = partAt(text, at);
      if (part === undefined) return undefined;
      word += part.text;
      at += part.length;
    }
    words.push(Buffer.from(word, 'latin1'));
    at += lengthAt(space, text, at);
  }
  return words;
}

function partAt(text: string, at: number): { text: string; length: number } | undefined {
  if (text[at] === '"') {
    const [whole, inside] = matchAt(quoted, text, at) ?? [];
    return whole === undefined
      ? undefined
      : { text: unescaped(inside ?? ''), length: whole.length };
  }
  if (text[at] === "'") {
    const [whole, inside] = matchAt(literal, text, at) ?? [];
    if (whole === undefined) return undefined;
    return { text: (inside ?? '').replaceAll("\\'", "'"), length: whole.length };
  }
  const [word = ''] = matchAt(plain, text, at) ?? [];
  return { text: word, length: word.length };
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(?:x([0-9a-f]{2})|([^]))/gi, (_, hex?: string, letter = '') =>
    hex === undefined
      ? (escapes[letter] ?? letter)
      : String.fromCodePoint(Number.parseInt(hex, 16)),
  );
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  const sticky = pattern;
  sticky.lastIndex = at;
  return sticky.exec(text);
}

function lengthAt(pattern: RegExp, text: string, at: number): number {
  return matchAt(pattern, text, at)?.[0].length ?? 0;
}

function isSpace(character: string | undefined): boolean {
  return character !== undefined && /[ \t\n\v\f\r]/.test(character);
}
