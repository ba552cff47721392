/** Lets a few at a time do something about one subject; the others wait in the order in which they came. */
export class Turns {
  readonly #lines = new Map<string, { inside: number; readonly waiting: (() => void)[] }>();

  /** Waits for a turn, which has to be given back.
   *  @param most at a time
   *  @returns false, at once, where too many wait already */
  async take(subject: string, most: number, maxWaiting: number): Promise<boolean> {
    const line = this.#lines.get(subject) ?? { inside: 0, waiting: [] };
    this.#lines.set(subject, line);
    if (line.inside < most) {
      line.inside += 1;
      return true;
    }
    if (line.waiting.length >= maxWaiting) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    line.waiting.push(resolve);
    await promise;
    return true;
  }

  /** To be called once for each turn that was taken. */
  giveBack(subject: string): void {
    const line = this.#lines.get(subject);
    if (line === undefined) return;
    const next = line.waiting.shift();
    if (next !== undefined) next();
    else if (line.inside > 1) line.inside -= 1;
    else this.#lines.delete(subject);
  }
}
