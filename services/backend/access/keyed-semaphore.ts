/** Limits concurrency per subject. Callers beyond the limit wait in the order of their arrival. */
export class KeyedSemaphore {
  readonly #lines = new Map<string, { inside: number; readonly waiting: (() => void)[] }>();

  /** Waits for a slot, to be released afterwards.
   *  @param limit slots of the subject
   *  @returns false at once when `maxWaiting` callers wait already */
  async acquire(subject: string, limit: number, maxWaiting: number): Promise<boolean> {
    const line = this.#lines.get(subject) ?? { inside: 0, waiting: [] };
    this.#lines.set(subject, line);
    if (line.inside < limit) {
      line.inside += 1;
      return true;
    }
    if (line.waiting.length >= maxWaiting) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    line.waiting.push(resolve);
    await promise;
    return true;
  }

  /** Releases one slot; once for each that was acquired. */
  release(subject: string): void {
    const line = this.#lines.get(subject);
    if (line === undefined) return;
    const next = line.waiting.shift();
    if (next !== undefined) next();
    else if (line.inside > 1) line.inside -= 1;
    else this.#lines.delete(subject);
  }
}
