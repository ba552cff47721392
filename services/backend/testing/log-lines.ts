/** Collects log lines for tests. */
export class LogLines {
  readonly lines: string[] = [];

  write(line: string): void {
    this.lines.push(line);
  }

  /** Lines at level `error` and above. */
  get errors(): readonly string[] {
    return this.lines.filter((line) => /"level":"(error|fatal)"/.test(line));
  }
}
