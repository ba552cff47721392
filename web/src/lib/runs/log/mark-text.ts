/** Marks the matches of a search in a line, ignoring case.
 *  @param html the output of `lineHtml`; matches that cross a span boundary are not marked */
export function markText(html: string, wanted: string): string {
  if (wanted === '') return html;
  const pattern = new RegExp(RegExp.escape(escaped(wanted)), 'giu');
  return html.replace(/(<[^>]*>)|([^<]+)/g, (_all, tag: string | undefined, text: string) =>
    tag === undefined ? text.replace(pattern, '<mark>$&</mark>') : tag,
  );
}

function escaped(text: string): string {
  const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;' };
  return text.replace(/[&<>"']/g, (letter) => entities[letter as keyof typeof entities]);
}
