import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embeddedAddresses } from '#infra/embedded/postgres.ts';
import { withClient } from '#infra/testing/client.ts';
import { expect, test } from 'vitest';
import { startDatabase } from './database.ts';

test('the service rebuilds rows from an earlier version at its next start', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'orch-minimal-'));
  const adminUrl = () => embeddedAddresses(join(dataDir, 'postgres'))?.adminUrl ?? '';
  const lines: string[] = [];
  const first = await startDatabase(dataDir, (line) => lines.push(line));
  expect(lines.join('\n')).not.toContain('Rebuilt');
  await withClient(adminUrl(), (client) =>
    client.query(`UPDATE projection_versions SET version = 0 WHERE name = 'groups'`),
  );
  await first.stop();
  // Simulates a code change since the last start.
  await rm(join(dataDir, 'cache', 'projections-by'));
  const second = await startDatabase(dataDir, (line) => lines.push(line));
  await second.stop();
  await rm(dataDir, { recursive: true });
  expect(lines).toContain('Rebuilt groups: 0 rows before, 0 after, all identical');
}, 180_000);
