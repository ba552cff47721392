import { toggled } from './selection.ts';

/** What is selected in a list that may have more pages than are loaded. */
export class Selection<Item> {
  /** All that the list has, also what is not loaded. */
  everything = $state(false);
  #ids = $state.raw<ReadonlySet<string>>(new Set());
  readonly #shown: () => readonly Item[];
  readonly #idOf: (item: Item) => string;
  /** Where a range begins. */
  #anchor: string | undefined;

  /** @param shown what is loaded, in the order of the list */
  constructor(shown: () => readonly Item[], idOf: (item: Item) => string) {
    this.#shown = shown;
    this.#idOf = idOf;
  }

  /** What is selected of what is loaded. What has left the list is selected no longer. */
  get items(): readonly Item[] {
    return this.#shown().filter((item) => this.has(this.#idOf(item)));
  }

  get any(): boolean {
    return this.items.length > 0;
  }

  /** Whether all that is loaded is selected. */
  get whole(): boolean {
    return this.any && this.items.length === this.#shown().length;
  }

  has(id: string): boolean {
    return this.everything || this.#ids.has(id);
  }

  /** Selects or leaves out one, or with `range` all from the one before to it. */
  toggle(id: string, range = false): void {
    // What is left out of everything leaves what is loaded.
    if (this.everything) this.all();
    const ids = this.#shown().map(this.#idOf);
    this.#ids = toggled(this.#ids, ids, id, range ? this.#anchor : undefined);
    this.#anchor = id;
  }

  /** Selects what is loaded. */
  all(): void {
    this.everything = false;
    this.#ids = new Set(this.#shown().map(this.#idOf));
  }

  clear(): void {
    this.everything = false;
    this.#ids = new Set();
    this.#anchor = undefined;
  }
}
