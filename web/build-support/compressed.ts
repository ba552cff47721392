import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { Adapter } from '@sveltejs/kit';

const compress = promisify(brotliCompress);
const endings = /\.(js|css|wasm|svg|json|html)$/;

/** The maximum Brotli quality would take minutes for the editor's tools and barely reduce their size. */
const largeBytes = 1024 * 1024;
const largeQuality = 9;

/** Writes a Brotli version next to each text file of the build. The backend serves no other compressed versions.
 *  @param folder the output folder of the build */
export function compressed(adapter: Adapter, folder: string): Adapter {
  return {
    ...adapter,
    async adapt(builder) {
      await adapter.adapt(builder);
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
      const paths = files.filter((path) => endings.test(path)).map((path) => join(folder, path));
      await Promise.all(paths.map(compressFile));
    },
  };
}

async function compressFile(path: string): Promise<void> {
  const content = await readFile(path);
  const isLarge = content.length > largeBytes;
  const quality = isLarge ? largeQuality : constants.BROTLI_MAX_QUALITY;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  };
  await writeFile(`${path}.br`, await compress(content, { params }));
}
