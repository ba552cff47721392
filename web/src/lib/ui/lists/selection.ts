/** Returns the selected IDs after an item was toggled. With an anchor, the change also applies to all items between the
 *  anchor and the toggled item.
 *  @param shown the IDs in list order
 *  @param anchor the previously toggled item, or `undefined` if none exists */
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
