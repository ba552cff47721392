/** Tests the data folders of earlier releases, which `scripts/keep-data.ts` stores. This release must continue to
 *  work with them. After a failed update, the previous release must also continue to work. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  clusterFolder,
  embeddedAddresses,
  startEmbeddedPostgres,
} from '#infra/embedded/postgres.ts';
import { openDatabase, type Queryable } from '#infra/postgres/database.ts';
import { rebuildProjection, type RebuildReport } from '#infra/postgres/rebuild/rebuild.ts';
import { withClient } from '#infra/testing/client.ts';
import type { Projection } from '#projections/projection.ts';
import { inlineProjections } from '#projections/registry.ts';
import { Releases, type Installed } from '#services/shared/releases.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { guard } from './releases/guard.ts';
import { migrationsOf, openKept, readKept, rowsOfAll, type KeptData } from './testing/kept-data.ts';
import { Product } from './testing/product.ts';

const keptFolder = fileURLToPath(new URL('testing/kept', import.meta.url));
const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url));
const databaseEntry = new URL('database.ts', import.meta.url).href;
const ownMigrations = readdirSync(migrationsFolder).filter((name) => name.endsWith('.sql'));

/** Repeats the rebuild until the new rows include all events. */
async function rebuildWhileQuiet(
  pool: ReturnType<typeof openDatabase>['pool'],
  projection: Projection,
): Promise<RebuildReport> {
  for (;;) {
    const report = await rebuildProjection({ pool, projection, kind: 'inline' });
    if (report.behind === 0) return report;
  }
}

describe.each(readdirSync(keptFolder))('the data folder %s', { timeout: 180_000 }, (name) => {
  let folder: string;
  let kept: KeptData;
  beforeAll(async () => {
    kept = await readKept(join(keptFolder, name));
  });

  /** Recreates the data folder of the release.
   *  @param isReachable whether the database's account can reach the folder. If not, the database is stored
   *  elsewhere */
  async function openData(isReachable: boolean): Promise<string> {
    folder = await mkdtemp(join(tmpdir(), 'orch-upgrade-'));
    const dataDir = join(folder, 'data');
    if (isReachable) await chmod(folder, 0o711);
    await openKept(kept, dataDir);
    return dataDir;
  }

  describe('after this release has started with the folder', () => {
    let product: Product;
    beforeAll(async () => {
      product = await Product.start({ dataDir: await openData(true) });
    }, 180_000);
    afterAll(async () => {
      await product.stop();
      await rm(folder, { recursive: true });
    });
    const adminUrl = () => embeddedAddresses(join(product.dataDir, 'postgres'))?.adminUrl ?? '';

    test('has every migration applied and no event changed', async () => {
      const { names, events } = await withClient(adminUrl(), async (db) => ({
        names: (await migrationsOf(db)).map((one) => one.name),
        events: (await rowsOfAll(db))['events'],
      }));
      expect(names).toEqual(ownMigrations.toSorted());
      expect(kept.migrations.length).toBeLessThan(names.length);
      expect(events).toEqual(expect.arrayContaining([...(kept.tables['events'] ?? [])]));
    });

    test('yields every list with its previous content', async () => {
      const found = async (path: string) =>
        (await product.call<{ items: readonly unknown[] }>('GET', path)).items.length;
      const rows = (table: string) => kept.tables[table]?.length ?? 0;
      expect(await found('/scripts?limit=200')).toBe(rows('scripts') - 1); // One script was deleted.
      expect(await found('/runs?limit=200')).toBeGreaterThanOrEqual(rows('runs'));
      for (const table of ['schedules', 'webhooks', 'chains', 'groups', 'users'] as const) {
        expect([table, await found(`/${table}?limit=200`)]).toEqual([table, rows(table)]);
      }
      expect(await found('/notifications?limit=200')).toBeGreaterThanOrEqual(rows('notices'));
      for (const list of ['channels', 'rules'] as const) {
        expect([list, await found(`/notifications/${list}`)]).toEqual([list, 1]);
      }
      expect(await found('/notifications/deliveries')).toBeGreaterThanOrEqual(rows('deliveries'));
      expect(await found('/backups')).toBe(0);
      expect(await found('/auth/tokens')).toBe(1);
      const { ok } = await product.fetch('GET', '/dashboard/stats');
      expect(ok).toBe(true);
      for (const runId of kept.history.runIds) {
        expect((await product.runState(runId)).status).not.toMatch(/queued|running/);
      }
      const [first = ''] = kept.history.runIds;
      expect((await product.log(first)).map(({ text }) => text)).toContain(
        "The report of {'number': 0}",
      );
    });

    test('has a valid audit log that begins with the same hashes', async () => {
      const verdict = await product.call<{ valid: boolean; entries: number }>(
        'GET',
        '/audit/verify',
      );
      expect(verdict.valid).toBe(true);
      expect(verdict.entries).toBeGreaterThanOrEqual(kept.tables['events']?.length ?? 0);
      const hashes = (lines: readonly string[] = []) =>
        lines.map((line) => JSON.parse(line) as { audit_seq: number; hash: string });
      const now = await withClient(adminUrl(), async (db) => (await rowsOfAll(db))['audit']);
      const byNumber = new Map(hashes(now).map((one) => [one.audit_seq, one.hash]));
      const earlier = hashes(kept.tables['audit']);
      expect(earlier.length).toBeGreaterThan(0);
      for (const { audit_seq: number, hash } of earlier) expect(byNumber.get(number)).toBe(hash);
    });

    test('lets users sign in, read secrets and run scripts', async () => {
      const { email, password, scriptId, output, webhookPath } = kept.history;
      await product.call('POST', '/auth/login', { email, password });
      const { run_id: runId } = await product.run(scriptId);
      expect((await product.untilFinished(runId)).status).toBe('success');
      expect((await product.call<{ output: unknown }>('GET', `/runs/${runId}`)).output).toBe(
        output,
      );
      const called = await fetch(`${product.baseUrl}${webhookPath}`, {
        method: 'POST',
        body: '{}',
      });
      expect(called.status).toBe(202);
      const { run_id: calledRun } = (await called.json()) as { run_id: string };
      await product.untilFinished(calledRun);
    });

    test('yields the same read models when they are rebuilt from its events', async () => {
      const { pool, close } = openDatabase(adminUrl(), {
        connections: 2,
        applicationName: 'test',
        onIdleError: () => undefined,
      });
      for (const projection of inlineProjections) {
        const { tables } = await rebuildWhileQuiet(pool, projection);
        for (const { table, lost, added, changed, keys } of tables) {
          expect([table, lost, added, changed, keys]).toEqual([table, 0, 0, 0, []]);
        }
      }
      await close();
    });
  });

  test.each([
    ['in the data folder', true],
    ['outside the data folder', false],
  ])('is restored after a failed migration if the database is %s', async (_, isReachable) => {
    const dataDir = await openData(isReachable);
    const releases = new Releases(dataDir);
    const from = release(
      releases,
      '0.1.12',
      kept.migrations.map((one) => one.name),
      waits,
    );
    const to = release(releases, '0.1.13', ownMigrations, migratesAndEnds(dataDir));
    const updateId = '019aa3f4-01aa-7c11-8d22-5e6f70819203';
    releases.write('switch', { updateId, kind: 'update', from, to, isTried: false });
    const asked = new AbortController();
    const said: string[] = [];
    const say = (line: string) => void said.push(line);
    await guard(
      { releases, dataDir, own: from, environment: process.env, services: [], say },
      asked.signal,
    );
    expect(said.join('\n')).toContain('is unhealthy: it exited with code 7');
    expect(releases.read('outcome')).toMatchObject({ updateId, kind: 'rolled_back' });
    expect(await readdir(releases.folder)).toContain('migrated');
    const found = await standing(dataDir, async (db) => ({
      migrations: await migrationsOf(db),
      tables: await rowsOfAll(db),
    }));
    expect(found.migrations).toEqual(kept.migrations);
    expect(found.tables).toEqual(kept.tables);
    await rm(clusterFolder(join(dataDir, 'postgres')), { recursive: true });
    await rm(folder, { recursive: true });
  });
});

/** A program that replaces the old release. It reports that it is up and then exits, so that the test can inspect
 *  the data. */
const waits = `process.send('ready'); process.disconnect();`;

/** A program that replaces the new release. It migrates the database and then fails. */
const migratesAndEnds = (dataDir: string) => `
  import { appendFileSync } from 'node:fs';
  import { startDatabase } from ${JSON.stringify(databaseEntry)};
  const database = await startDatabase(${JSON.stringify(dataDir)}, () => undefined);
  appendFileSync(${JSON.stringify(join(dataDir, 'releases', 'migrated'))}, '');
  await database.stop();
  process.exit(7);`;

function release(
  releases: Releases,
  version: string,
  migrations: readonly string[],
  program: string,
): Installed {
  const folder = releases.folderOf(version);
  mkdirSync(join(folder, 'services/minimal'), { recursive: true });
  mkdirSync(join(folder, 'migrations'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  for (const name of migrations) writeFileSync(join(folder, 'migrations', name), '');
  writeFileSync(join(folder, 'services/minimal/main.ts'), program);
  return { version, folder };
}

/** Starts only the database of a data folder, and queries it. */
async function standing<Found>(
  dataDir: string,
  look: (db: Queryable) => Promise<Found>,
): Promise<Found> {
  const server = await startEmbeddedPostgres({ directory: join(dataDir, 'postgres') });
  try {
    return await withClient(server.adminUrl, look);
  } finally {
    await server.stop();
  }
}
