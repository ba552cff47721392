import { doToEach, type Collected, type Outcome } from './bulk.ts';

/** A bulk action: its items, progress and refusals. */
export class Bulk<Item> {
  phase = $state.raw<'collecting' | 'asking' | 'working' | 'over'>('collecting');
  collected = $state.raw<Collected<Item>>({ items: [], more: false });
  outcomes = $state.raw<readonly Outcome<Item>[]>([]);
  /** Why the items could not be loaded. */
  failure = $state.raw<unknown>(null);
  readonly #stop = new AbortController();
  readonly refused = $derived(this.outcomes.filter(({ refusal }) => refusal !== null));

  /** Loads the items. */
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

  /** Starts no further items. */
  stop(): void {
    this.#stop.abort();
  }
}
