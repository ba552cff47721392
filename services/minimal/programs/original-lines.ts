/** Makes stack traces of a merged program show the lines of its source. Each merged program includes this module. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** `NAME.mjs.lines` of a merged file. */
export interface OriginalLines {
  /** URLs of the source files. */
  readonly sources: readonly string[];
  /** For each line of the merged file: the index of a source and its line; the line is 0 for generated code. */
  readonly lines: readonly number[];
}

const merged = new URL('.', import.meta.url).href;
const location = /(file:\S+?):(\d+):\d+(?=\)?$)/;
/** Freed by the garbage collector, because most processes have no errors for a long time. */
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

/** Empty if the file is missing or cannot be read. */
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
