/** Applies an action to many items, one by one. */
import { messageOf } from '#lib/api/api-error.ts';
import type { Page } from '#lib/api/types.ts';

/** The number of concurrent requests, limited to spare the server. */
const maxConcurrent = 4;

export interface Outcome<Item> {
  item: Item;
  /** Why the action was refused; null on success. */
  refusal: string | null;
}

/** Applies an action to each item in order, until `signal` is aborted. Waits for items in progress.
 *  @param tell called with each result */
export async function doToEach<Item>(
  items: readonly Item[],
  one: (item: Item) => Promise<unknown>,
  { signal, onOutcome }: { signal: AbortSignal; onOutcome: (outcome: Outcome<Item>) => void },
): Promise<void> {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) {
      if (signal.aborted) return;
      const refusal = await one(item).then(
        () => null,
        (error: unknown) => messageOf(error),
      );
      onOutcome({ item, refusal });
      if (signal.aborted) return;
    }
  };
  await Promise.all(Array.from({ length: maxConcurrent }, worker));
}

/** The items of a bulk action. */
export interface Collected<Item> {
  items: readonly Item[];
  /** Whether there are more items than the limit. */
  more: boolean;
  /** The number of selected items to which the action does not apply. */
  leftOut?: number;
}

/** Loads all pages of a list, up to a number of items. */
export async function collectPages<Item>(
  load: (cursor: string | null) => Promise<Page<Item>>,
  most: number,
): Promise<Collected<Item>> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Item> = await load(cursor);
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null && items.length < most);
  return { items: items.slice(0, most), more: cursor !== null || items.length > most };
}
