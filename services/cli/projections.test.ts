import { groupId } from '#domain/testing/ids.ts';
import { createGroup } from '#domain/testing/samples.ts';
import { openDatabase, type Database } from '#infra/postgres/database.ts';
import { outdatedRows } from '#infra/postgres/rebuild/projection-versions.ts';
import { eventsVisible, openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { asyncProjections, inlineProjections } from '#projections/registry.ts';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listProjections, rebuildNamed, rebuildOutdated } from './projections.ts';
import { bar, type Terminal } from './terminal.ts';

let platform: TestPlatform;
let owner: Database;
beforeAll(async () => {
  platform = await openTestPlatform();
  owner = openDatabase(platform.adminUrl, {
    connections: 2,
    applicationName: 'cli test',
    onIdleError: () => undefined,
  });
  await outdatedRows(platform.pool, [...inlineProjections, ...asyncProjections]);
  await platform.accepted(createGroup());
});
afterAll(async () => {
  await owner.close();
  await platform.close();
});

type Work = (pool: Database['pool'], terminal: Terminal) => Promise<void>;

async function told(work: Work) {
  const lines: string[] = [];
  const shares: number[] = [];
  await work(owner.pool, {
    colors: false,
    line: (text) => lines.push(text),
    write: (bytes) => lines.push(Buffer.from(bytes).toString()),
    problem: (text) => lines.push(text),
    progress: (_label, share) => shares.push(share),
    drained: () => Promise.resolve(),
  });
  return { lines, shares };
}
const rebuild =
  (name: string): Work =>
  (pool, terminal) =>
    rebuildNamed(name, pool, terminal);

describe('read models of the current version', () => {
  test('are listed as current', async () => {
    const { lines } = await told(listProjections);
    expect(lines.length).toBe(inlineProjections.length + asyncProjections.length);
    for (const line of lines) expect(line).toMatch(/^\w+ +version \d+ {2}current/);
  });

  test('are listed as an array of JSON', async () => {
    const { lines } = await told((pool, terminal) => listProjections(pool, terminal, true));
    const rows = JSON.parse(lines.join('\n')) as object[];
    expect(rows.length).toBe(inlineProjections.length + asyncProjections.length);
    expect(rows).toContainEqual({ name: 'users', version: 1, made_by_version: 1, lag: null });
  });

  test('are rebuilt with progress up to 100 %, and are then compared with their previous tables', async () => {
    await eventsVisible(platform.pool);
    const { lines, shares } = await told(rebuild('groups'));
    expect(shares.at(-1)).toBe(1);
    expect(lines).toEqual(['groups: 1 rows before, 1 after, all identical']);
  });

  test('have wrong rows counted in the comparison', async () => {
    await platform.pool.query(`UPDATE groups SET name = 'wrong'`);
    await eventsVisible(platform.pool);
    const { lines } = await told(rebuild('groups'));
    expect(lines).toEqual([
      `groups: 1 rows before, 1 after; 0 removed, 0 added, 1 changed, such as ${groupId()}`,
    ]);
  });
});

test('the option --outdated rebuilds only outdated rows', async () => {
  await owner.pool.query(`UPDATE projection_versions SET version = 77 WHERE name = 'users'`);
  expect((await told(listProjections)).lines.join('\n')).toMatch(
    /users +version 1 {2}made by version 77: rebuild/,
  );
  expect((await told(rebuildOutdated)).lines).toEqual([
    'users: 0 rows before, 0 after, all identical',
  ]);
  expect((await told(rebuildOutdated)).lines).toEqual([]);
});

test('the message about an unknown read model lists the known ones', async () => {
  await expect(told(rebuild('nothing'))).rejects.toThrow(
    /Unknown projection nothing. Projections: groups, /,
  );
});

test('the command finds the database, and names missing settings', async () => {
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const start = (env: Record<string, string>, ...options: string[]) =>
    promisify(execFile)(process.execPath, [main, 'projections', 'list', ...options], { env });
  const { stdout } = await start({ ORCH_DATABASE_ADMIN_URL: platform.adminUrl });
  expect(stdout).toMatch(/^audit +version/m);
  const asJson = await start({ ORCH_DATABASE_ADMIN_URL: platform.adminUrl }, '--json');
  expect(JSON.parse(asJson.stdout)).toContainEqual(expect.objectContaining({ name: 'audit' }));
  await expect(start({ ORCH_DATA_DIR: '/nowhere' })).rejects.toMatchObject({
    code: 78,
    stderr: expect.stringContaining('ORCH_DATABASE_ADMIN_URL is missing'),
  });
});

test('a rebuild shows a progress bar', () => {
  expect(bar('runs', 0.5)).toBe(`runs ${'█'.repeat(20)}${'░'.repeat(20)}  50 %`);
  expect(bar('runs', 7)).toBe(`runs ${'█'.repeat(40)} 100 %`);
});
