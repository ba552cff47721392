/** Replaces secrets with `***` before anything is stored or sent. */
import { EncodedScan, EncodedSecrets } from './encoded-secrets.ts';
import { formsOf, latin1Of, MIN_MASKED_BYTES } from './secret-forms.ts';

const MASK = '***';

/** Masks the bytes of one stream, regardless of chunk boundaries. */
export interface MaskedStream {
  /** Masks the next bytes.
   *  @returns the bytes that can already be shown. Bytes that may begin a secret are returned later */
  push(bytes: Uint8Array): Uint8Array;
  /** Ends the stream. @returns the remaining bytes */
  end(): Uint8Array;
}

export class Masker {
  readonly #forms = new Set<string>();
  readonly #encoded = new EncodedSecrets();
  /** All forms, sorted, so that the forms that begin with given characters are found quickly. */
  #sorted: readonly string[] = [];
  /** The first two bytes of every form. */
  #beginnings: ReadonlySet<string> = new Set();
  #pattern: RegExp | undefined;
  #longest = 0;

  /** Masks these values from now on. */
  add(values: readonly string[]): void {
    const before = this.#forms.size;
    for (const value of values.map((one) => one.trim())) {
      if (Buffer.byteLength(value) < MIN_MASKED_BYTES || this.#forms.has(latin1Of(value))) continue;
      for (const form of formsOf(value)) this.#forms.add(form);
      this.#encoded.add(value);
    }
    if (this.#forms.size === before) return;
    this.#sorted = [...this.#forms].toSorted();
    this.#beginnings = new Set(this.#sorted.map((form) => form.slice(0, 2)));
    const longestFirst = this.#sorted.toSorted((one, other) => other.length - one.length);
    this.#longest = longestFirst[0]?.length ?? 0;
    this.#pattern = new RegExp(longestFirst.map(escaped).join('|'), 'g');
  }

  /** Masks a complete text. */
  text(text: string): string {
    const stream = this.stream();
    return Buffer.concat([stream.push(Buffer.from(text)), stream.end()]).toString();
  }

  /** Masks the beginning of a longer text. Omits the end of this part if a secret could begin there. */
  textStart(text: string): string {
    return Buffer.from(this.stream().push(Buffer.from(text))).toString();
  }

  /** Creates a masked stream. */
  stream(): MaskedStream {
    const scan = new EncodedScan(this.#encoded);
    let waiting = '';
    /** A flag for each delayed byte: 1 if the byte belongs to a secret. */
    let hidden = new Uint8Array();
    let isInMask = false;
    const show = (text: string, end: number): Buffer => {
      let shown = '';
      for (let at = 0; at < end;) {
        const isHidden = hidden[at] === 1;
        const next = hidden.indexOf(isHidden ? 0 : 1, at);
        const to = next === -1 ? end : Math.min(next, end);
        if (!isHidden) shown += text.slice(at, to);
        else if (!isInMask) shown += MASK;
        isInMask = isHidden;
        at = to;
      }
      waiting = text.slice(end);
      hidden = hidden.slice(end);
      return Buffer.from(shown, 'latin1');
    };
    return {
      push: (bytes) => {
        if (this.#pattern === undefined) return bytes;
        const text = waiting + Buffer.from(bytes).toString('latin1');
        const start = scan.position - waiting.length;
        const known = hidden;
        hidden = new Uint8Array(text.length);
        hidden.set(known);
        scan.push(bytes, (place) => {
          if (place >= start) hidden[place - start] = 1;
        });
        const decided = text.length - this.#beginningAt(text);
        this.#hideForms(text, decided, hidden);
        return show(text, Math.min(decided, scan.undecidedFrom - start));
      },
      end: () => {
        this.#hideForms(waiting, waiting.length, hidden);
        return show(waiting, waiting.length);
      },
    };
  }

  /** Marks all forms that begin before `end`. Forms can overlap, because similar forms of a value are cut at
   *  different positions. */
  #hideForms(text: string, end: number, hidden: Uint8Array): void {
    const pattern = this.#pattern;
    if (pattern === undefined) return;
    pattern.lastIndex = 0;
    for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
      const { index, 0: form } = found;
      if (index >= end) return;
      hidden.fill(1, index, index + form.length);
      pattern.lastIndex = index + 1;
    }
  }

  /** Returns the length of the longest suffix of `text` that is a prefix of a form. */
  #beginningAt(text: string): number {
    const most = Math.min(this.#longest - 1, text.length);
    for (let length = most; length > 0; length -= 1) {
      const at = text.length - length;
      if (length > 1 && !this.#beginnings.has(text.slice(at, at + 2))) continue;
      if (this.#begins(text.slice(at))) return length;
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

/** Returns a regular expression that matches exactly this text. */
function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
