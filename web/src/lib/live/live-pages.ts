import type { InfiniteData } from '@tanstack/svelte-query';
import type { ListedScript, Page, Run, Script } from '#lib/api/types.ts';
import type { RunFilter } from '#lib/runs/api.ts';
import { matchesFilter } from '#lib/ui/lists/filter.ts';

/** The loaded pages of a list with cursor pagination. */
export type Pages<Item> = InfiniteData<Page<Item>>;

/** Replaces an item with its current version. A new item is inserted in the order of IDs, unless its position is on a
 *  page that is not loaded.
 *  @param idOf returns IDs that increase over time */
export function withItem<Item>(
  data: Pages<Item>,
  item: Item,
  idOf: (item: Item) => string,
): Pages<Item> {
  const id = idOf(item);
  let placed = false;
  const pages = data.pages.map((page) => {
    if (placed) return page;
    const at = page.items.findIndex((one) => idOf(one) <= id);
    const isKnown = page.items.some((one) => idOf(one) === id);
    if (at < 0 && page.next_cursor !== null) return page;
    placed = true;
    const items = [...page.items];
    items.splice(at < 0 ? items.length : at, isKnown ? 1 : 0, item);
    return { ...page, items };
  });
  return placed ? { ...data, pages } : data;
}

/** Replaces an item with its current version, if it is on a loaded page. */
export function withChanged<Item>(
  data: Pages<Item>,
  item: Item,
  idOf: (item: Item) => string,
): Pages<Item> {
  const pages = data.pages.map((page) => ({
    ...page,
    items: page.items.map((one) => (idOf(one) === idOf(item) ? item : one)),
  }));
  return { ...data, pages };
}

/** Removes an item from the pages. */
export function withoutItem<Item>(
  data: Pages<Item>,
  id: string,
  idOf: (item: Item) => string,
): Pages<Item> {
  if (!hasItem(data, id, idOf)) return data;
  const pages = data.pages.map((page) => ({
    ...page,
    items: page.items.filter((one) => idOf(one) !== id),
  }));
  return { ...data, pages };
}

export function hasItem<Item>(
  data: Pages<Item>,
  id: string,
  idOf: (item: Item) => string,
): boolean {
  return data.pages.some((page) => page.items.some((one) => idOf(one) === id));
}

/** Whether a run matches the filter of a list, or null if the run's data alone cannot decide. */
export function matches(run: Run, filter: RunFilter): boolean | null {
  const { status, trigger_type, script_id, error_group_id, q, group_id, from, to } = filter;
  const isOther =
    !matchesFilter(status, run.status) ||
    !matchesFilter(trigger_type, run.trigger_type) ||
    !matchesFilter(script_id, run.script_id) ||
    (error_group_id !== undefined && error_group_id !== run.error_group_id) ||
    (from !== undefined && Date.parse(run.queued_at) < Date.parse(from)) ||
    (to !== undefined && Date.parse(run.queued_at) >= Date.parse(to));
  if (isOther) return false;
  // The server also searches error messages and run IDs.
  const isNamed = q === undefined || run.script_name.toLowerCase().includes(q.toLowerCase());
  return group_id === undefined && isNamed ? true : null;
}

const scriptId = (script: Script): string => script.id;

/** Replaces a script with its current version; `null` removes a deleted script. */
export function withScript(
  pages: Pages<ListedScript>,
  id: string,
  script: Script | null,
  narrowed: boolean,
): Pages<ListedScript> {
  if (script === null) return withoutItem(pages, id, scriptId);
  const known = pages.pages.flatMap((page) => page.items).find((one) => one.id === id);
  const shown = { ...script, ...(known?.activity && { activity: known.activity }) };
  if (!narrowed) return withItem(pages, shown, scriptId);
  return {
    ...pages,
    pages: pages.pages.map((page) => ({
      ...page,
      items: page.items.map((one) => (one.id === id ? shown : one)),
    })),
  };
}
