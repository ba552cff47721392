/** Chooses the preview for an artifact by its file name. */
export type ArtifactKind =
  | 'image'
  | 'table'
  | 'parquet'
  | 'markdown'
  | 'html'
  | 'notebook'
  | 'text';

const byEnding: Readonly<Record<string, ArtifactKind>> = {
  csv: 'table',
  tsv: 'table',
  parquet: 'parquet',
  md: 'markdown',
  markdown: 'markdown',
  html: 'html',
  htm: 'html',
  ipynb: 'notebook',
};

const imageTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  svg: 'image/svg+xml',
};

const mebibyte = 1024 * 1024;

/** Returns the kind of an artifact. Files of unknown types count as text, and are shown if they contain text. */
export function artifactKind(path: string): ArtifactKind {
  const ending = endingOf(path);
  return ending in imageTypes ? 'image' : (byEnding[ending] ?? 'text');
}

/** Returns the media type of an image, or undefined for other files. */
export function imageType(path: string): string | undefined {
  return imageTypes[endingOf(path)];
}

/** The maximum number of bytes to load. Longer texts and tables are cut off. */
export function loadedBytes(kind: ArtifactKind): number {
  return kind === 'text' || kind === 'table' ? mebibyte : 16 * mebibyte;
}

/** Whether a preview can show the beginning of a file without the rest. */
export function canBeCut(kind: ArtifactKind): boolean {
  return kind === 'text' || kind === 'table';
}

function endingOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1).toLowerCase();
}
