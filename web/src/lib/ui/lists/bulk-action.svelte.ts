import { doToEach, type Collected, type Outcome } from './bulk.ts';

/** The state of a bulk action: its items, its progress, and the items that were refused. */
export class Bulk<Item> {
  phase = $state.raw<'collecting' | 'asking' | 'working' | 'over'>('collecting');
  collected = $state.raw<Collected<Item>>({ items: [], more: false });
  outcomes = $state.raw<readonly Outcome<Item>[]>([]);
  /** The error that prevented loading the items. */
  failure = $state.raw<unknown>(null);
  readonly #stop = new AbortController();
  readonly refused = $derived(this.outcomes.filter(({ refusal }) => refusal !== null));

  /** Loads the items to which the action will apply. */
  async collect(find: () => Promise<Collected<Item>>): Promise<void> {
    try {
      this.collected = await find();
      this.phase = 'asking';
    } catch (error) {
      this.failure = error;
    }
  }

  async work(one: (item: Item) => Promise<unknown>): Promise<void> {
    this.phase = 'working';
    await doToEach(this.collected.items, one, {
      signal: this.#stop.signal,
      onOutcome: (outcome) => (this.outcomes = [...this.outcomes, outcome]),
    });
    this.phase = 'over';
  }

  /** Stops before the next item. Items in progress are completed. */
  stop(): void {
    this.#stop.abort();
  }
}
