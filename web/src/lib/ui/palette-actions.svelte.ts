import { untrack } from 'svelte';

/** Actions of the current page, for the palette. */
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

/** Lists actions in the palette while the calling component is mounted. */
export function offer(source: Source): void {
  $effect(() => untrack(() => offers.add(source)));
}
