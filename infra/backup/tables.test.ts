import { asyncProjections, inlineProjections } from '#projections/registry.ts';
import { openTestPlatform } from '#infra/testing/platform.ts';
import { expect, test } from 'vitest';
import { unlistedTables } from './tables.ts';

const projections = [...inlineProjections, ...asyncProjections];

test('every database table is listed in infra/backup/tables.ts', async () => {
  const platform = await openTestPlatform();
  try {
    expect(await unlistedTables(platform.pool, projections)).toEqual([]);
  } finally {
    await platform.close();
  }
});
