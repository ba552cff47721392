/** Applies an action to many items, with one request per item. */
import { messageOf } from '#lib/api/api-error.ts';
import type { Page } from '#lib/api/types.ts';

/** The maximum number of concurrent requests, which limits the load on the server. */
const maxConcurrent = 4;

export interface Outcome<Item> {
  item: Item;
  /** Why the action was refused, or null on success. */
  refusal: string | null;
}

/** Applies an action to each item in order until `signal` is aborted, and waits for the items in progress.
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

/** The items to which a bulk action will apply. */
export interface Collected<Item> {
  items: readonly Item[];
  /** Whether items were omitted because the limit was reached. */
  more: boolean;
  /** The number of selected items to which the action does not apply. */
  leftOut?: number;
}

/** Loads pages of a list until a maximum number of items is reached. */
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
