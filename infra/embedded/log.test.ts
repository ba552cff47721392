import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withClient } from '#infra/testing/client.ts';
import { untilTrue } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './postgres.ts';

const MiB = 1024 * 1024;
let folder: string;
let server: EmbeddedPostgres;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'orch-postgres-log-'));
  chmodSync(folder, 0o711);
  const options = { directory: join(folder, 'postgres'), fallbackParent: join(folder, 'fallback') };
  server = await startEmbeddedPostgres({ ...options, durable: false });
}, 180_000);
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('the database log stays within its size limit while the server runs', async () => {
  const path = join(folder, 'postgres', 'postgres.log');
  await withClient(server.adminUrl, async (client) => {
    for (let line = 1; line <= 35; line++) {
      await client.query(`DO $$ BEGIN RAISE LOG '%', repeat('x', ${MiB}) || '-${line}-'; END $$`);
    }
  });
  const end = () => readFileSync(path, 'utf8');
  await untilTrue('the last line is there', () => Promise.resolve(end().includes('x-35-')));
  // There are two files of 10 MiB. Each may exceed this size by the write that filled it.
  expect(statSync(path).size + statSync(`${path}.1`).size).toBeLessThan(21 * MiB);
}, 180_000);
