/** Tests that generated API clients work with the running product, and that API linters report no findings. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import {
  apiLinters,
  clientNames,
  generateByJava,
  generators,
  lint,
  runScriptWith,
} from './testing/api-clients/clients.ts';
import { Product } from './testing/product.ts';

const timeout = 300_000;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orch-api-clients-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describeWith(generators, 'a generated client', () => {
  let product: Product;
  beforeAll(async () => {
    product = await Product.start();
    const description = await fetch(`${product.baseUrl}/openapi.json`);
    await writeFile(join(folder, 'openapi.json'), await description.text());
    await generateByJava(folder);
  }, timeout);
  afterAll(async () => {
    await product?.stop();
    await product?.remove();
  });

  describe('creates a script, saves a file, runs the script and reads its log', () => {
    test.concurrent.each(clientNames)('%s', { timeout }, async (name) => {
      const [, token = ''] = product.authorization.authorization.split(' ');
      const printed = await runScriptWith(name, folder, [product.baseUrl, token]);
      expect(printed.trim()).toBe('success hello');
    });
  });
});

describeWith(apiLinters, 'the API description', () => {
  test('has no errors or warnings under the recommended lint rules', { timeout }, async () => {
    const [spectral = '', redocly] = await lint(join(process.cwd(), 'docs/openapi.json'), folder);
    expect(spectral).toContain("No results with a severity of 'hint' or higher found!");
    expect(redocly).not.toMatch(/warning|error/i);
  });
});
