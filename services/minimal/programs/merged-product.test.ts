import { readFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { Product } from '../testing/product.ts';

test('the services of a started product are merged programs', { timeout: 120_000 }, async () => {
  const product = await Product.start({ signIn: false });
  onTestFinished(async () => {
    await product.stop();
    await product.remove();
  });

  for (const service of ['backend', 'runtime'] as const) {
    const command = await readFile(`/proc/${await product.pidOf(service)}/cmdline`, 'utf8');
    expect(command.split('\0')).toContain(`${product.dataDir}/cache/programs/${service}.mjs`);
  }
});
