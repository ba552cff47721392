const controls = 'a, button, input, label, select, summary, textarea';

/** Forwards a click anywhere in a table row to the row's element with `data-row-link`. The alternative, a link that
 *  covers the row, requires several layers per row. The browser would process all these layers in each frame and on
 *  each pointer movement. */
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
  // Ignores the click if the user has selected text in the row.
  if (document.getSelection()?.isCollapsed === false) return;
  const link = target.closest('tr')?.querySelector<HTMLElement>('[data-row-link]');
  const opensTab = button === 1 || event.ctrlKey || event.metaKey || event.shiftKey;
  if (opensTab && link instanceof HTMLAnchorElement) window.open(link.href);
  else if (button === 0) link?.click();
}
