/** Shows `***` in place of secrets, before anything is stored or sent. */
import { formsOf } from './secret-forms.ts';

const MASK = '***';

/** Masks the bytes of one stream, however they are cut. */
export interface MaskedStream {
  /** What may be shown of all that has arrived. What could be the beginning of a secret waits. */
  push(bytes: Uint8Array): Uint8Array;
  /** The rest: nothing follows. */
  end(): Uint8Array;
}

export class Masker {
  readonly #forms = new Set<string>();
  /** In order, so that one that begins in a certain way is found quickly. */
  #sorted: readonly string[] = [];
  #pattern: RegExp | undefined;
  #longest = 0;

  /** Masks these values from now on. */
  add(values: readonly string[]): void {
    const before = this.#forms.size;
    for (const form of values.flatMap(formsOf)) this.#forms.add(form);
    if (this.#forms.size === before) return;
    this.#sorted = [...this.#forms].toSorted();
    const longestFirst = this.#sorted.toSorted((one, other) => other.length - one.length);
    this.#longest = longestFirst[0]?.length ?? 0;
    this.#pattern = new RegExp(`(?:${longestFirst.map(escaped).join('|')})+`, 'g');
  }

  /** The whole of a text, masked. */
  text(text: string): string {
    const latin1 = Buffer.from(text).toString('latin1');
    return Buffer.from(this.#masked(latin1), 'latin1').toString();
  }

  /** A stream of its own. */
  stream(): MaskedStream {
    let waiting = '';
    return {
      push: (bytes) => {
        if (this.#pattern === undefined) return bytes;
        const text = waiting + Buffer.from(bytes).toString('latin1');
        const { shown, rest } = this.#split(text);
        waiting = rest;
        return Buffer.from(shown, 'latin1');
      },
      end: () => {
        const shown = this.#masked(waiting);
        waiting = '';
        return Buffer.from(shown, 'latin1');
      },
    };
  }

  #masked(latin1: string): string {
    return this.#pattern === undefined ? latin1 : latin1.replace(this.#pattern, MASK);
  }

  /** Masks as much of `text` as does not depend on what comes next. */
  #split(text: string): { readonly shown: string; readonly rest: string } {
    let shown = '';
    let from = 0;
    const undecidedAt = text.length - this.#beginningAt(text, from);
    for (const { index, 0: found } of text.matchAll(this.#pattern ?? /$^/g)) {
      if (index >= undecidedAt) break;
      shown += text.slice(from, index) + MASK;
      from = index + found.length;
    }
    const cut = text.length - this.#beginningAt(text, from);
    return { shown: shown + text.slice(from, cut), rest: text.slice(cut) };
  }

  /** Length of the longest end of `text` behind `from` that a form begins with and goes on. */
  #beginningAt(text: string, from: number): number {
    const most = Math.min(this.#longest - 1, text.length - from);
    for (let length = most; length > 0; length -= 1) {
      if (this.#begins(text.slice(text.length - length))) return length;
    }
    return 0;
  }

  #begins(start: string): boolean {
    let [low, high] = [0, this.#sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#sorted[middle] ?? '') <= start) low = middle + 1;
      else high = middle;
    }
    return this.#sorted[low]?.startsWith(start) ?? false;
  }
}

/** The text as a regular expression that matches it and nothing else. */
function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
