/** The same done to many, one by one. */
import { messageOf } from '#lib/api/api-error.ts';
import type { Page } from '#lib/api/types.ts';

/** As many at once: the server has others to serve. */
const atOnce = 4;

export interface Outcome<Item> {
  item: Item;
  /** Why it was not done; null where it was. */
  refusal: string | null;
}

/** Does it to each, in their order, until `signal` is aborted; what was begun is waited for.
 *  @param tell of each, as it ends */
export async function doToEach<Item>(
  items: readonly Item[],
  one: (item: Item) => Promise<unknown>,
  { signal, tell }: { signal: AbortSignal; tell: (outcome: Outcome<Item>) => void },
): Promise<void> {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) {
      if (signal.aborted) return;
      const refusal = await one(item).then(
        () => null,
        (error: unknown) => messageOf(error),
      );
      tell({ item, refusal });
      if (signal.aborted) return;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** What is meant by a command for many. */
export interface Gathered<Item> {
  items: readonly Item[];
  /** Whether there are more than were taken. */
  more: boolean;
  /** How many were selected to which it cannot be done. */
  leftOut?: number;
}

/** All pages of a list, up to so many items. */
export async function gatherPages<Item>(
  load: (cursor: string | null) => Promise<Page<Item>>,
  most: number,
): Promise<Gathered<Item>> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Item> = await load(cursor);
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null && items.length < most);
  return { items: items.slice(0, most), more: cursor !== null || items.length > most };
}
