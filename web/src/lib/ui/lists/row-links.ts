const controls = 'a, button, input, label, select, summary, textarea';

/** Makes a click anywhere in a row of the table a click on the element with `data-row-link` in that row. A link that
 *  covers its row would need a layer for the link, the row and each of its other controls, and the browser visits every
 *  layer of the table in each frame and at each movement of the pointer. */
export function followRowLinks(table: HTMLElement): () => void {
  table.addEventListener('click', follow);
  table.addEventListener('auxclick', follow);
  return () => {
    table.removeEventListener('click', follow);
    table.removeEventListener('auxclick', follow);
  };
}

function follow(event: MouseEvent): void {
  const { target, button } = event;
  if (button > 1 || !(target instanceof Element) || target.closest(controls) !== null) return;
  // The user has selected text of the row.
  if (document.getSelection()?.isCollapsed === false) return;
  const link = target.closest('tr')?.querySelector<HTMLElement>('[data-row-link]');
  const opensTab = button === 1 || event.ctrlKey || event.metaKey || event.shiftKey;
  if (opensTab && link instanceof HTMLAnchorElement) window.open(link.href);
  else if (button === 0) link?.click();
}
