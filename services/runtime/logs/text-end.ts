/** The end of a text that comes line by line. */
export class TextEnd {
  readonly #length: number;
  #before: string[] = [];
  #lines: string[] = [];
  #size = 0;

  /** @param length how many characters it has at least, where so many came; twice as many at most, and a line */
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
