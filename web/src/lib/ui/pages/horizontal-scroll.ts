/** Attachment for horizontally scrolling elements. `data-beyond` names the edges with hidden content, where app.css
 *  fades it out. The current item (`aria-current`) scrolls into view. */
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
    // Not scrollIntoView, which also scrolls the page.
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
