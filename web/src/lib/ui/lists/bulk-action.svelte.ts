import { doToEach, type Gathered, type Outcome } from './bulk.ts';

/** The same done to many: what is meant, how far it is, and what was refused. */
export class Bulk<Item> {
  phase = $state.raw<'gathering' | 'asking' | 'working' | 'over'>('gathering');
  gathered = $state.raw<Gathered<Item>>({ items: [], more: false });
  outcomes = $state.raw<readonly Outcome<Item>[]>([]);
  /** Why it is not known what is meant. */
  failure = $state.raw<unknown>(null);
  readonly #stop = new AbortController();
  readonly refused = $derived(this.outcomes.filter(({ refusal }) => refusal !== null));

  /** Finds out what is meant. */
  async gather(find: () => Promise<Gathered<Item>>): Promise<void> {
    try {
      this.gathered = await find();
      this.phase = 'asking';
    } catch (error) {
      this.failure = error;
    }
  }

  async work(one: (item: Item) => Promise<unknown>): Promise<void> {
    this.phase = 'working';
    await doToEach(this.gathered.items, one, {
      signal: this.#stop.signal,
      tell: (outcome) => (this.outcomes = [...this.outcomes, outcome]),
    });
    this.phase = 'over';
  }

  /** Begins no more of them. */
  stop(): void {
    this.#stop.abort();
  }
}
