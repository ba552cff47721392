/** The selected IDs after toggling an item, or with a range, all items from the previous one.
 *  @param shown IDs in list order
 *  @param anchor the previously toggled item; `undefined` for none */
export function toggled(
  selected: ReadonlySet<string>,
  shown: readonly string[],
  id: string,
  anchor?: string,
): Set<string> {
  const next = new Set(selected);
  const [from, to] = [shown.indexOf(anchor ?? ''), shown.indexOf(id)];
  const meant =
    from >= 0 && to >= 0 ? shown.slice(Math.min(from, to), Math.max(from, to) + 1) : [id];
  const selects = !selected.has(id);
  for (const one of meant) {
    if (selects) next.add(one);
    else next.delete(one);
  }
  return next;
}
