import { previewContent, textOf, type ArtifactContent } from './api.ts';
import { indented } from './indented.ts';
import { artifactKind, imageType } from './kinds.ts';
import { csvTable, parquetTable, type TableContent } from './tables.ts';

/** The content of an artifact preview. */
export type Preview =
  | { readonly kind: 'image'; readonly url: string }
  | { readonly kind: 'table'; readonly table: TableContent }
  | { readonly kind: 'page'; readonly html: string }
  | { readonly kind: 'text'; readonly text: string; readonly isWhole: boolean }
  | { readonly kind: 'binary' };

/** Loads an artifact and prepares its preview.
 *  @param isDark whether to use dark colors in rendered pages
 *  @throws Error if the artifact does not exist, is damaged, or is too large */
export async function loadPreview(runId: string, path: string, isDark: boolean): Promise<Preview> {
  const kind = artifactKind(path);
  const content = await previewContent(runId, path, kind);
  if (kind === 'image') return { kind, url: await dataUrl(content, imageType(path) ?? '') };
  if (kind === 'parquet') {
    return { kind: 'table', table: await parquetTable(content.bytes.slice().buffer) };
  }
  const text = textOf(content);
  if (text === null) return { kind: 'binary' };
  switch (kind) {
    case 'table':
      return { kind, table: csvTable(text, content.isWhole) };
    case 'html':
      return { kind: 'page', html: text };
    case 'markdown':
      return { kind: 'page', html: (await import('./rich-html.ts')).markdownPage(text, isDark) };
    case 'notebook':
      return { kind: 'page', html: (await import('./notebook.ts')).notebookPage(text, isDark) };
    case 'text':
      return { kind, text: indented(path, text), isWhole: content.isWhole };
  }
}

/** Returns the image as a data URL. In an `<img>` element, even an SVG file cannot run scripts. */
function dataUrl({ bytes }: ArtifactContent, type: string): Promise<string> {
  const reader = new FileReader();
  return new Promise((resolve, reject) => {
    reader.addEventListener('load', () => resolve(reader.result as string));
    reader.addEventListener('error', () => reject(reader.error ?? new Error('Could not read')));
    reader.readAsDataURL(new Blob([bytes], { type }));
  });
}
