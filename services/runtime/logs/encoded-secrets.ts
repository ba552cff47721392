/** Finds secrets in base64 and hexadecimal, wherever lines are broken: what counts are the characters of base64
 *  in their order, and whatever stands between two of them is skipped. Hexadecimal digits are among them. */

/** Characters of base64 that are compared at once: 30 bits. */
const GRAM_LENGTH = 5;
/** So many characters in a row are shown to be of a secret, if it has that many: 9 bytes in base64, 8 in hexadecimal. */
const ENOUGH_BASE64 = 12;
const ENOUGH_HEX = 16;
/** Less would be found in ordinary text. */
const FEWEST = 6;
/** Bytes between two characters: a line break, an indentation, a quote and the like. */
const MAX_GAP_BYTES = 64;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** The six bits of each byte that is a character of base64, of either alphabet; -1 of others. */
const symbolOf = new Int8Array(256).fill(-1);
for (const last of ['+/', '-_']) {
  for (const [index, byte] of Buffer.from(alphabet + last).entries()) symbolOf[byte] = index;
}
const BACKSLASH = 0x5c;
const EQUALS = 0x3d;
/** Behind a backslash they are no characters of base64 but a line break, a tab or the beginning of a byte. */
const escapes = new Set(Buffer.from('nrtx'));

/** The encodings of secrets, as a scan compares them. */
export class EncodedSecrets {
  /** How many characters in a row are enough, by each five that stand together in an encoding. */
  readonly enough = new Map<number, number>();
  /** How encodings begin: the first one to four characters, with their number. */
  readonly #starts = new Set<number>();
  /** A bit for each three characters that such five end with: most text is passed over by it. */
  readonly #ends = new Uint8Array(1 << 15);

  /** @param value of a secret, without white space around it */
  add(value: string): void {
    const bytes = Buffer.from(value);
    for (const before of [0, 1, 2]) {
      // Characters that share bits with what is before or behind the secret differ.
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

  /** The encodings that could begin with these characters. */
  begins(code: number, length: number): boolean {
    return this.#starts.has((code & ((1 << (6 * length)) - 1)) * GRAM_LENGTH + length);
  }

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

/** Looks through one stream, piece by piece, and remembers little of it. */
export class EncodedScan {
  /** Bytes that were looked through. */
  position = 0;
  readonly #secrets: EncodedSecrets;
  /** Where the last characters are, around a ring. */
  readonly #places = new Float64Array(ENOUGH_HEX);
  #characters = 0;
  #code = 0;
  /** How many of the last characters may be of a secret, and how many of those are enough. */
  #run = 0;
  #enough = 0;
  #gap = 0;
  #isEscape = false;

  constructor(secrets: EncodedSecrets) {
    this.#secrets = secrets;
  }

  /** @param hide is told the place of each byte that is of a secret, also of bytes that came before */
  push(bytes: Uint8Array, hide: (place: number) => void): void {
    const start = this.position;
    // Most bytes change these alone.
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

  /** Where the characters begin that may turn out to be of a secret when more comes; at the latest the position. */
  get undecidedFrom(): number {
    let length = 0;
    if (this.#run > 0 && !this.#isFound) length = this.#run;
    else if (this.#gap === 0) {
      length = Math.min(this.#characters, GRAM_LENGTH - 1);
      while (length > 0 && !this.#secrets.begins(this.#code, length)) length -= 1;
    }
    return length === 0 ? this.position : this.#placeOf(length);
  }

  /** @returns whether what came before stands too far away to count */
  #skip(byte: number, place: number, hide: (place: number) => void): boolean {
    // What fills up the last characters belongs to them.
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

  /** Where the character is that came so many characters ago, 1 being the last. */
  #placeOf(back: number): number {
    return this.#places[(this.#characters - back) % ENOUGH_HEX] ?? this.position;
  }
}

function shifted(code: number, symbol: number): number {
  return ((code << 6) | symbol) & 0x3fffffff;
}

/** The lines of a PEM file that are base64 themselves, as one: its lines may be wrapped anew. */
function encodedLines(value: string): string {
  const lines = value.split(/\r?\n/).map((line) => line.trim().replace(/=*$/, ''));
  return lines.length < 2
    ? ''
    : lines.filter((line) => /^[A-Za-z0-9+/_-]+$/.test(line) && !line.startsWith('--')).join('');
}
