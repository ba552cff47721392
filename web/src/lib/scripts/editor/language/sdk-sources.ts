/** Extracts the SDK's sources from its wheel, so that the language server can read their types and docstrings. */

const index = '/sdk/simple/script-orchestration-sdk';

/** Returns the SDK's Python files by path, such as `orchestrator/__init__.py`. Returns no files if the wheel is
 *  unavailable. */
export async function sdkSources(): Promise<Record<string, string>> {
  try {
    const page = await (await fetch(index)).text();
    const [, path] = /href="(\/sdk\/[^"#]+)/.exec(page) ?? [];
    if (path === undefined) return {};
    return await pythonFiles(await (await fetch(path)).arrayBuffer());
  } catch {
    return {};
  }
}

/** Reads the Python files of a zip archive. The central directory is at the end of the archive (PKWARE APPNOTE
 *  4.3.12). */
export async function pythonFiles(archive: ArrayBuffer): Promise<Record<string, string>> {
  const view = new DataView(archive);
  const end = endOfDirectory(view);
  const files: Record<string, string> = {};
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left -= 1) {
    const [nameSize, extraSize, noteSize] = [28, 30, 32].map((offset) =>
      view.getUint16(at + offset, true),
    ) as [number, number, number];
    const name = new TextDecoder().decode(new Uint8Array(archive, at + 46, nameSize));
    if (name.endsWith('.py')) files[name] = await contentOf(view, at);
    at += 46 + nameSize + extraSize + noteSize;
  }
  return files;
}

function endOfDirectory(view: DataView): number {
  for (let at = view.byteLength - 22; at >= 0; at -= 1) {
    if (view.getUint32(at, true) === 0x06_05_4b_50) return at;
  }
  throw new Error('The file is not a zip archive.');
}

/** @param entry the offset of the file's entry in the central directory */
async function contentOf(view: DataView, entry: number): Promise<string> {
  const isCompressed = view.getUint16(entry + 10, true) === 8;
  const size = view.getUint32(entry + 20, true);
  const local = view.getUint32(entry + 42, true);
  const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
  const bytes = new Blob([view.buffer.slice(start, start + size) as ArrayBuffer]);
  const stream = isCompressed
    ? bytes.stream().pipeThrough(new DecompressionStream('deflate-raw'))
    : bytes.stream();
  return await new Response(stream).text();
}
