import { toggled } from './selection.ts';

/** The selection in a list that may have unloaded pages. */
export class Selection<Item> {
  /** Whether all items are selected, including unloaded ones. */
  everything = $state(false);
  #ids = $state.raw<ReadonlySet<string>>(new Set());
  readonly #shown: () => readonly Item[];
  readonly #idOf: (item: Item) => string;
  /** The start of a range. */
  #anchor: string | undefined;

  /** @param shown the loaded items, in list order */
  constructor(shown: () => readonly Item[], idOf: (item: Item) => string) {
    this.#shown = shown;
    this.#idOf = idOf;
  }

  /** The selected loaded items. Items that left the list are no longer selected. */
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

  /** Toggles an item, or with `range` all items from the previous one. */
  toggle(id: string, range = false): void {
    // Deselecting one of all items keeps only the loaded ones.
    if (this.everything) this.all();
    const ids = this.#shown().map(this.#idOf);
    this.#ids = toggled(this.#ids, ids, id, range ? this.#anchor : undefined);
    this.#anchor = id;
  }

  /** Selects the loaded items. */
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
