// A minimal lexer that finds import specifiers reliably. Text in comments, strings, templates and regular expressions
// is never mistaken for code. The lexer does not parse TypeScript.

/** `template` is a template literal without substitutions. For a template with substitutions, only their code yields
 *  tokens. */
export interface Token {
  readonly kind: 'word' | 'string' | 'template' | 'punctuation';
  readonly text: string;
}

// The first matching alternative wins, so comments precede punctuation.
const LEXEME = new RegExp(
  [
    String.raw`(?<comment>\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|^#![^\n]*)`,
    String.raw`(?<string>'(?:\\[\s\S]|[^'\\\n])*'?|"(?:\\[\s\S]|[^"\\\n])*"?)`,
    String.raw`(?<word>[\p{L}\p{N}_$#@]+)`,
    String.raw`(?<space>\s+)`,
    String.raw`(?<punctuation>=>|[\s\S])`,
  ].join('|'),
  'uy',
);
const REGEXP = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/uy;
const TEMPLATE_TEXT = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*/uy;

// After these words, a slash begins a regular expression. After any other word, a slash is a division.
const BEFORE_EXPRESSION = new Set(
  'return typeof case in of do else void delete throw new await yield instanceof'.split(' '),
);

/** Returns the tokens of `source`, without comments and white space. */
export function tokensOf(source: string): Token[] {
  return new Lexer(source).run();
}

class Lexer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  // One entry for each open brace. The entry is true if the brace belongs to `${` in a template.
  readonly #braces: boolean[] = [];
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  run(): Token[] {
    while (this.#at < this.#source.length) this.#step();
    return this.#tokens;
  }

  #step(): void {
    const char = this.#source[this.#at];
    if (char === '`') return this.#template(true);
    if (char === '}' && this.#braces.pop() === true) return this.#template(false);
    if (char === '{') this.#braces.push(false);
    const groups = this.#match(LEXEME)?.groups ?? {};
    if (groups['string'] !== undefined) this.#push('string', unquoted(groups['string']));
    if (groups['word'] !== undefined) this.#push('word', groups['word']);
    if (groups['punctuation'] !== undefined) this.#operator(groups['punctuation']);
  }

  #operator(text: string): void {
    if (text === '/' && this.#startsExpression()) {
      this.#at -= 1;
      if (this.#match(REGEXP) !== null) return this.#push('punctuation', '/…/');
      this.#at += 1;
    }
    this.#push('punctuation', text);
  }

  // Reads a template from its opening backtick, or from the end of a substitution.
  #template(opening: boolean): void {
    this.#at += 1;
    const text = this.#match(TEMPLATE_TEXT)?.[0] ?? '';
    const substitutes = this.#source.startsWith('${', this.#at);
    this.#at += substitutes ? 2 : 1;
    if (substitutes) this.#braces.push(true);
    if (opening) this.#push(substitutes ? 'punctuation' : 'template', substitutes ? '`' : text);
    else this.#push('punctuation', '`');
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#source);
    if (match !== null) this.#at = pattern.lastIndex;
    return match;
  }

  #startsExpression(): boolean {
    const last = this.#tokens.at(-1);
    if (last === undefined) return true;
    if (last.kind === 'word') return BEFORE_EXPRESSION.has(last.text);
    return last.kind === 'punctuation' && ![')', ']', '}', '/…/', '`'].includes(last.text);
  }

  #push(kind: Token['kind'], text: string): void {
    this.#tokens.push({ kind, text });
  }
}

function unquoted(literal: string): string {
  return literal.slice(1, literal.endsWith(literal.charAt(0)) ? -1 : undefined);
}
