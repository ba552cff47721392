/** Shares a small number of slots fairly. Groups take turns, regardless of the lengths of their queues. */

/** The task did not start, because no slot became free in time. */
export class WaitedTooLong extends Error {
  override readonly name = 'WaitedTooLong';
}

/**
 * When the task finishes, its slot is released to other groups. The quota of the task's group is reduced by one until
 * `end` resolves.
 */
export type KeepPlace = (end: Promise<void>) => void;

export interface FairQueueOptions {
  /** The maximum number of concurrent tasks. At least 1. */
  readonly places: number;
  readonly maxWaitMs: number;
}

export class FairQueue {
  readonly #options: FairQueueOptions;
  /** Groups in the order of their turns, each with its waiting tasks, oldest first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #active = new Map<string, number>();
  #free: number;
  #kept = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
    this.#free = options.places;
  }

  /** The number of waiting tasks. */
  get length(): number {
    return this.#waiting.values().reduce((sum, line) => sum + line.length, 0);
  }

  /** The number of slots occupied by abandoned tasks. */
  get kept(): number {
    return this.#kept;
  }

  /** Runs the task when it is the group's turn.
   *  @throws WaitedTooLong */
  async run<Result>(
    group: string,
    work: (keepPlace: KeepPlace) => Promise<Result>,
  ): Promise<Result> {
    await this.#turn(group);
    let kept: Promise<void> | undefined;
    try {
      return await work((end) => {
        kept = end;
      });
    } finally {
      this.#free += 1;
      if (kept === undefined) this.#leave(group);
      else void this.#leaveAfter(group, kept);
      this.#startNext();
    }
  }

  #turn(group: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      this.#queue(
        group,
        this.#lineOf(group).filter((one) => one !== start),
      );
      reject(new WaitedTooLong(`no query slot became free within ${this.#options.maxWaitMs} ms`));
    }, this.#options.maxWaitMs);
    this.#queue(group, [...this.#lineOf(group), start]);
    this.#startNext();
    return promise;
  }

  async #leaveAfter(group: string, end: Promise<void>): Promise<void> {
    this.#kept += 1;
    await end;
    this.#kept -= 1;
    this.#leave(group);
    this.#startNext();
  }

  #leave(group: string): void {
    const active = this.#activeOf(group) - 1;
    if (active === 0) this.#active.delete(group);
    else this.#active.set(group, active);
  }

  #startNext(): void {
    // A group can use all slots but one, so that other groups can always proceed. If there is only one slot, all groups
    // share it.
    const share = Math.max(1, this.#options.places - 1);
    while (this.#free > 0) {
      const next = this.#waiting.entries().find(([group]) => this.#activeOf(group) < share);
      if (next === undefined) return;
      const [group, [start, ...rest]] = next;
      this.#free -= 1;
      this.#active.set(group, this.#activeOf(group) + 1);
      // Moves the group behind all other waiting groups.
      this.#waiting.delete(group);
      this.#queue(group, rest);
      start?.();
    }
  }

  #lineOf(group: string): readonly (() => void)[] {
    return this.#waiting.get(group) ?? [];
  }

  #queue(group: string, line: (() => void)[]): void {
    if (line.length === 0) this.#waiting.delete(group);
    else this.#waiting.set(group, line);
  }

  #activeOf(group: string): number {
    return this.#active.get(group) ?? 0;
  }
}
