import { asyncProjections, inlineProjections } from '#projections/registry.ts';
import { openTestPlatform } from '#infra/testing/platform.ts';
import { expect, test } from 'vitest';
import { forgottenTables } from './tables.ts';

const projections = [...inlineProjections, ...asyncProjections];

test('of every table it is said what a backup takes of it: enter a new one in infra/backup/tables.ts', async () => {
  const platform = await openTestPlatform();
  try {
    expect(await forgottenTables(platform.pool, projections)).toEqual([]);
  } finally {
    await platform.close();
  }
});
