import { untrack } from 'svelte';

/** An action that the current page adds to the command palette. */
export interface Offer {
  label: string;
  run: () => unknown;
}

type Source = () => readonly Offer[];

class Offers {
  #sources = $state.raw<readonly Source[]>([]);

  get all(): readonly Offer[] {
    return this.#sources.flatMap((source) => source());
  }

  add(source: Source): () => void {
    this.#sources = [...this.#sources, source];
    return () => {
      this.#sources = this.#sources.filter((one) => one !== source);
    };
  }
}

export const offers = new Offers();

/** Adds actions to the command palette while the calling component is mounted. */
export function offer(source: Source): void {
  $effect(() => untrack(() => offers.add(source)));
}
