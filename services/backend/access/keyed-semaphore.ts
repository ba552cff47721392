/** Limits concurrency per subject. Callers beyond the limit wait in order of arrival. */
export class KeyedSemaphore {
  readonly #lines = new Map<string, { inside: number; readonly waiting: (() => void)[] }>();

  /** Waits for a slot, which the caller must release.
   *  @param limit number of slots for the subject
   *  @returns false immediately if `maxWaiting` callers are already waiting */
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

  /** Releases one slot. Must be called once per acquired slot. */
  release(subject: string): void {
    const line = this.#lines.get(subject);
    if (line === undefined) return;
    const next = line.waiting.shift();
    if (next !== undefined) next();
    else if (line.inside > 1) line.inside -= 1;
    else this.#lines.delete(subject);
  }
}
