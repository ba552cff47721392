import { toggled } from './selection.ts';

/** The selection in a list whose pages may not all be loaded. */
export class Selection<Item> {
  /** Whether all items are selected, including those on unloaded pages. */
  everything = $state(false);
  #ids = $state.raw<ReadonlySet<string>>(new Set());
  readonly #shown: () => readonly Item[];
  readonly #idOf: (item: Item) => string;
  /** The item at which a range selection starts. */
  #anchor: string | undefined;

  /** @param shown returns the loaded items in list order */
  constructor(shown: () => readonly Item[], idOf: (item: Item) => string) {
    this.#shown = shown;
    this.#idOf = idOf;
  }

  /** The loaded items that are selected. An item that leaves the list is no longer selected. */
  get items(): readonly Item[] {
    return this.#shown().filter((item) => this.has(this.#idOf(item)));
  }

  get any(): boolean {
    return this.items.length > 0;
  }

  /** Whether all loaded items are selected. */
  get whole(): boolean {
    return this.any && this.items.length === this.#shown().length;
  }

  has(id: string): boolean {
    return this.everything || this.#ids.has(id);
  }

  /** Toggles an item. With `range`, the change also applies to all items between the previously toggled item and this
   *  item. */
  toggle(id: string, range = false): void {
    // Deselecting an item while all items are selected limits the selection to the loaded items.
    if (this.everything) this.all();
    const ids = this.#shown().map(this.#idOf);
    this.#ids = toggled(this.#ids, ids, id, range ? this.#anchor : undefined);
    this.#anchor = id;
  }

  /** Selects all loaded items. */
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
