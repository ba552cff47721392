/** Finds secrets in base64 and hexadecimal, regardless of line wrapping. Only characters from the base64 alphabet
 *  are compared. Bytes between these characters, such as line breaks, are skipped. */

/** The number of characters in a lookup key. Their codes fit in 30 bits. */
const GRAM_LENGTH = 5;
/** The number of consecutive characters that identify part of a secret: 9 bytes in base64, 8 bytes in hexadecimal. */
const ENOUGH_BASE64 = 12;
const ENOUGH_HEX = 16;
/** The minimum number of characters in an encoded secret. Shorter encodings would match ordinary text. */
const FEWEST = 6;
/** The maximum number of bytes between two characters, such as a line break with indentation and quotes. */
const MAX_GAP_BYTES = 64;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** The six-bit value of each byte that is a base64 character in either alphabet, and -1 for other bytes. */
const symbolOf = new Int8Array(256).fill(-1);
for (const last of ['+/', '-_']) {
  for (const [index, byte] of Buffer.from(alphabet + last).entries()) symbolOf[byte] = index;
}
const BACKSLASH = 0x5c;
const EQUALS = 0x3d;
/** After a backslash, these letters are part of an escape sequence (line break, tab, byte) and not of base64. */
const escapes = new Set(Buffer.from('nrtx'));

/** An index of fragments of encoded secrets. */
export class EncodedSecrets {
  /** The number of characters that must match before they are masked, by the first five characters of a fragment. */
  readonly enough = new Map<number, number>();
  /** The first one to four characters of each encoding, combined with the number of characters. */
  readonly #starts = new Set<number>();
  /** A bit for each combination of three characters with which a fragment can end. Most text contains no such
   *  combination and needs no lookup. */
  readonly #ends = new Uint8Array(1 << 15);

  /** Adds a secret.
   *  @param value without surrounding white space */
  add(value: string): void {
    const bytes = Buffer.from(value);
    for (const before of [0, 1, 2]) {
      // Omits characters whose bits also encode adjacent data.
      const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
      const firstChar = Math.ceil((before * 8) / 6);
      const whole = Math.floor(((before + bytes.length) * 8) / 6) - firstChar;
      this.#addText(text.replace(/=*$/, '').slice(firstChar), Math.min(whole, ENOUGH_BASE64));
    }
    const hex = bytes.toString('hex');
    for (const text of [hex, hex.toUpperCase()])
      this.#addText(text, Math.min(text.length, ENOUGH_HEX));
    const body = encodedLines(value);
    if (body.length > 2 * ENOUGH_BASE64) this.#addText(body, ENOUGH_BASE64);
  }

  /** Whether any encoding begins with the last `length` characters of `code`. */
  begins(code: number, length: number): boolean {
    return this.#starts.has((code & ((1 << (6 * length)) - 1)) * GRAM_LENGTH + length);
  }

  /** Whether a fragment may end with the last three characters of `code`. */
  mayEnd(code: number): boolean {
    return ((this.#ends[(code & 0x3ffff) >> 3] ?? 0) & (1 << (code & 7))) !== 0;
  }

  #addText(text: string, enough: number): void {
    if (text.length < FEWEST) return;
    let code = 0;
    for (let index = 0; index < text.length; index += 1) {
      code = shifted(code, symbolOf[text.charCodeAt(index)] ?? 0);
      if (index < GRAM_LENGTH - 1) {
        this.#starts.add(code * GRAM_LENGTH + index + 1);
        continue;
      }
      const least = Math.min(this.enough.get(code) ?? Infinity, Math.max(enough, FEWEST));
      this.enough.set(code, least);
      const end = (code & 0x3ffff) >> 3;
      this.#ends[end] = (this.#ends[end] ?? 0) | (1 << (code & 7));
    }
  }
}

/** Scans one stream chunk by chunk, in constant memory. */
export class EncodedScan {
  /** The number of bytes scanned so far. */
  position = 0;
  readonly #secrets: EncodedSecrets;
  /** A ring buffer with the positions of the most recent characters. */
  readonly #places = new Float64Array(ENOUGH_HEX);
  #characters = 0;
  #code = 0;
  /** The length of the current match, and the length from which a match is masked. */
  #run = 0;
  #enough = 0;
  #gap = 0;
  #isEscape = false;

  constructor(secrets: EncodedSecrets) {
    this.#secrets = secrets;
  }

  /** Scans the next chunk.
   *  @param hide called with the position of each byte of a secret. The byte may be in an earlier chunk */
  push(bytes: Uint8Array, hide: (place: number) => void): void {
    const start = this.position;
    // Copies the state to local variables for speed. Most bytes change no other state.
    let code = this.#code;
    let characters = this.#characters;
    for (let index = 0; index < bytes.length; index += 1) {
      const byte = bytes[index] ?? 0;
      const symbol = symbolOf[byte] ?? -1;
      if (symbol === -1 || (this.#isEscape && escapes.has(byte))) {
        this.#isEscape = byte === BACKSLASH;
        if (this.#skip(byte, start + index, hide)) characters = 0;
        continue;
      }
      this.#isEscape = false;
      this.#gap = 0;
      this.#places[characters % ENOUGH_HEX] = start + index;
      characters += 1;
      code = ((code << 6) | symbol) & 0x3fffffff;
      if (characters >= GRAM_LENGTH && this.#secrets.mayEnd(code)) {
        this.#characters = characters;
        this.#compare(code, hide);
      } else this.#run = 0;
    }
    this.#code = code;
    this.#characters = characters;
    this.position = start + bytes.length;
  }

  /** The start of a match that later bytes may complete, or the current position if there is no such match. */
  get undecidedFrom(): number {
    let length = 0;
    if (this.#run > 0 && !this.#isFound) length = this.#run;
    else if (this.#gap === 0) {
      length = Math.min(this.#characters, GRAM_LENGTH - 1);
      while (length > 0 && !this.#secrets.begins(this.#code, length)) length -= 1;
    }
    return length === 0 ? this.position : this.#placeOf(length);
  }

  /** Skips a byte that is not base64. @returns whether the gap is too long for a match to continue */
  #skip(byte: number, place: number, hide: (place: number) => void): boolean {
    // Also masks the padding of an encoded secret.
    if (byte === EQUALS && this.#isFound && this.#gap < 2) hide(place);
    this.#gap += 1;
    if (this.#gap <= MAX_GAP_BYTES) return false;
    this.#run = 0;
    return true;
  }

  #compare(code: number, hide: (place: number) => void): void {
    const enough = this.#secrets.enough.get(code);
    if (enough === undefined) {
      this.#run = 0;
      return;
    }
    const wasFound = this.#isFound;
    this.#enough = this.#run === 0 ? enough : Math.min(this.#enough, enough);
    this.#run = this.#run === 0 ? GRAM_LENGTH : this.#run + 1;
    if (!this.#isFound) return;
    for (let back = wasFound ? 1 : this.#run; back > 0; back -= 1) hide(this.#placeOf(back));
  }

  get #isFound(): boolean {
    return this.#run > 0 && this.#run >= this.#enough;
  }

  /** Returns the position of the `back`-th most recent character, counted from 1. */
  #placeOf(back: number): number {
    return this.#places[(this.#characters - back) % ENOUGH_HEX] ?? this.position;
  }
}

function shifted(code: number, symbol: number): number {
  return ((code << 6) | symbol) & 0x3fffffff;
}

/** Joins the base64 lines of a PEM file, because a program may wrap them differently. */
function encodedLines(value: string): string {
  const lines = value.split(/\r?\n/).map((line) => line.trim().replace(/=*$/, ''));
  return lines.length < 2
    ? ''
    : lines.filter((line) => /^[A-Za-z0-9+/_-]+$/.test(line) && !line.startsWith('--')).join('');
}
