/** Keeps the end of a text that arrives line by line. */
export class TextEnd {
  readonly #length: number;
  #before: string[] = [];
  #lines: string[] = [];
  #size = 0;

  /** @param length the minimum number of characters to keep. At most twice this number plus one line is kept */
  constructor(length: number) {
    this.#length = length;
  }

  add(line: string): void {
    this.#lines.push(line);
    this.#size += line.length + 1;
    if (this.#size < this.#length) return;
    this.#before = this.#lines;
    this.#lines = [];
    this.#size = 0;
  }

  text(): string {
    return [...this.#before, ...this.#lines].join('\n');
  }
}
