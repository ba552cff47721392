/** Makes a merged program's stack traces show source lines. Each merged program includes this module. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The content of `NAME.mjs.lines`, which belongs to a merged file. */
export interface OriginalLines {
  /** URLs of the source files. */
  readonly sources: readonly string[];
  /** The index of a source and the line in that source, for each line of the merged file. The line is 0 for
   *  generated code. */
  readonly lines: readonly number[];
}

const merged = new URL('.', import.meta.url).href;
const location = /(file:\S+?):(\d+):\d+(?=\)?$)/;
/** Weak references let the garbage collector free the content, because most processes rarely need stack traces. */
const known = new Map<string, WeakRef<OriginalLines>>();

Error.prepareStackTrace = (error, frames) =>
  [
    Error.prototype.toString.call(error),
    ...frames.map((frame) => `    at ${original(frame)}`),
  ].join('\n');

function original(frame: { toString(): string }): string {
  return frame.toString().replace(location, (text, url: string, line: string) => {
    if (!url.startsWith(merged)) return text;
    const { sources, lines } = linesOf(url);
    const [source = 0, originalLine = 0] = lines.slice(2 * (Number(line) - 1));
    return originalLine === 0 ? text : `${sources[source]}:${originalLine}`;
  });
}

/** Returns the original lines of a merged file. The result is empty if the file is missing or unreadable. */
function linesOf(url: string): OriginalLines {
  const present = known.get(url)?.deref();
  if (present !== undefined) return present;
  try {
    const read = JSON.parse(readFileSync(fileURLToPath(`${url}.lines`), 'utf8')) as OriginalLines;
    known.set(url, new WeakRef(read));
    return read;
  } catch {
    return { sources: [], lines: [] };
  }
}
