/** Converts Jupyter notebooks (nbformat 4) to HTML pages for the preview frame. */
import { escapeHtml, renderMarkdown, richPage } from './rich-html.ts';

type Text = string | readonly string[];

interface Output {
  readonly output_type?: string;
  readonly text?: Text;
  readonly data?: Readonly<Record<string, Text>>;
  readonly ename?: string;
  readonly evalue?: string;
  readonly traceback?: readonly string[];
}

interface Cell {
  readonly cell_type?: string;
  readonly source?: Text;
  readonly outputs?: readonly Output[];
}

/** @throws Error if the text is not a notebook */
export function notebookPage(text: string, isDark: boolean): string {
  const { cells } = JSON.parse(text) as { readonly cells?: readonly Cell[] };
  if (!Array.isArray(cells)) throw new Error('The file is not a notebook in format 4.');
  return richPage((cells as readonly Cell[]).map(cellHtml).join('\n'), isDark);
}

function cellHtml({ cell_type: type, source = '', outputs = [] }: Cell): string {
  const text = joined(source);
  if (type === 'markdown') return `<div class="cell">${renderMarkdown(text)}</div>`;
  const shown = outputs.map((output) => outputHtml(output)).join('');
  return `<div class="cell"><pre class="code">${escapeHtml(text)}</pre>${shown}</div>`;
}

function outputHtml({
  output_type: type,
  text,
  data = {},
  ename,
  evalue,
  traceback,
}: Output): string {
  if (type === 'error') {
    const lines = traceback?.map(withoutAnsi).join('\n') ?? `${ename ?? ''}: ${evalue ?? ''}`;
    return `<pre class="error">${escapeHtml(lines)}</pre>`;
  }
  if (text !== undefined) return `<pre>${escapeHtml(withoutAnsi(joined(text)))}</pre>`;
  for (const kind of ['image/png', 'image/jpeg', 'image/gif']) {
    const image = data[kind];
    const bytes = image === undefined ? '' : joined(image).replace(/[^A-Za-z0-9+/=]/g, '');
    if (bytes) return `<img alt="Output" src="data:${kind};base64,${bytes}">`;
  }
  const svg = data['image/svg+xml'];
  const html = data['text/html'] ?? svg;
  if (html !== undefined) return `<div>${joined(html)}</div>`;
  const markdown = data['text/markdown'];
  if (markdown !== undefined) return `<div>${renderMarkdown(joined(markdown))}</div>`;
  const plain = data['text/plain'];
  return plain === undefined ? '' : `<pre>${escapeHtml(joined(plain))}</pre>`;
}

function joined(text: Text): string {
  return typeof text === 'string' ? text : text.join('');
}

function withoutAnsi(text: string): string {
  // oxlint-disable-next-line no-control-regex -- terminal color codes begin with this control character.
  return text.replace(/\u001B\[[\d;]*m/g, '');
}
