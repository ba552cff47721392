/** Attachment for elements that scroll horizontally. `data-beyond` names the edges where content is hidden; app.css
 *  fades these edges. The current item (`aria-current`) is scrolled into view. */
export function horizontalScroll(node: HTMLElement): () => void {
  function report(): void {
    const { scrollLeft, scrollWidth, clientWidth } = node;
    const isLeft = scrollLeft > 1;
    const isRight = scrollWidth - clientWidth - scrollLeft > 1;
    node.dataset['beyond'] = `${isLeft ? 'left' : ''} ${isRight ? 'right' : ''}`.trim();
  }
  function showOpen(): void {
    const open = node.querySelector('[aria-current]')?.getBoundingClientRect();
    const own = node.getBoundingClientRect();
    // `scrollIntoView` would also scroll the page.
    if (open) node.scrollLeft += open.left - own.left - (own.width - open.width) / 2;
    report();
  }
  const sizes = new ResizeObserver(showOpen);
  sizes.observe(node);
  const changes = new MutationObserver(showOpen);
  changes.observe(node, { subtree: true, childList: true, attributeFilter: ['aria-current'] });
  node.addEventListener('scroll', report, { passive: true });
  return () => {
    sizes.disconnect();
    changes.disconnect();
    node.removeEventListener('scroll', report);
  };
}
