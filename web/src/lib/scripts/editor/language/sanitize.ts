const permitted = new Set(
  'A B BLOCKQUOTE BR CODE DD DEL DIV DL DT EM H1 H2 H3 H4 H5 H6 HR I LI OL P PRE SPAN STRONG SUB SUP TABLE TBODY TD TH THEAD TR UL'.split(
    ' ',
  ),
);

/** Sanitizes rendered documentation, because other users write the docstrings. Removes links, images, styles and
 *  scripts. Of all attributes, only the classes of highlighted code remain. */
export function sanitizeHtml(html: string): string {
  const { body } = new DOMParser().parseFromString(html, 'text/html');
  for (const element of body.querySelectorAll('*')) {
    if (!permitted.has(element.tagName)) element.remove();
    for (const name of element.getAttributeNames()) {
      if (name !== 'class') element.removeAttribute(name);
    }
  }
  return body.innerHTML;
}
