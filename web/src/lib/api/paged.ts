import type { InfiniteData } from '@tanstack/svelte-query';
import type { Page } from './types.ts';

/** Returns the `createInfiniteQuery` options for a list with cursor pagination. */
export function paged<Item>(load: (cursor: string | null) => Promise<Page<Item>>) {
  return {
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }: { pageParam: string | null }) => load(pageParam),
    getNextPageParam: (last: Page<Item>) => last.next_cursor,
  };
}

/** The items of all loaded pages. An item that moved from one page to another is listed once. */
export function itemsOf<Item>(
  data: InfiniteData<Page<Item>> | undefined,
  keyOf: (item: Item) => string,
): Item[] {
  const byKey = new Map<string, Item>();
  for (const page of data?.pages ?? []) {
    for (const item of page.items) byKey.set(keyOf(item), item);
  }
  return [...byKey.values()];
}
