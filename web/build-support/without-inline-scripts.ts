import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Adapter } from '@sveltejs/kit';

const inlineScript = /<script>([\s\S]*?)<\/script>/g;

/** Moves each inline script of `index.html` into a separate file that is named by its hash. The page then runs under
 *  `script-src 'self'` without hashes or nonces.
 *  @param pagesFolder where the wrapped adapter writes `index.html` */
export function withoutInlineScripts(adapter: Adapter, pagesFolder: string): Adapter {
  return {
    ...adapter,
    async adapt(builder) {
      await adapter.adapt(builder);
      const page = join(pagesFolder, 'index.html');
      const html = readFileSync(page, 'utf8').replace(inlineScript, (_, code: string) => {
        const hash = createHash('sha256').update(code).digest('hex').slice(0, 12);
        const path = `_app/immutable/boot.${hash}.js`;
        writeFileSync(join(pagesFolder, path), code);
        // A classic script, because the bootstrap needs `document.currentScript`, which is null in modules.
        return `<script src="/${path}"></script>`;
      });
      writeFileSync(page, html);
    },
  };
}
