import { groupId } from '#domain/testing/ids.ts';
import { createGroup } from '#domain/testing/samples.ts';
import { openDatabase, type Database } from '#infra/postgres/database.ts';
import { outdatedRows } from '#infra/postgres/projection-versions.ts';
import { eventsVisible, openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { asyncProjections, inlineProjections } from '#projections/registry.ts';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectionsCommand } from './projections.ts';
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

async function run(...args: string[]) {
  const lines: string[] = [];
  const problems: string[] = [];
  const shares: number[] = [];
  const terminal: Terminal = {
    line: (text) => lines.push(text),
    problem: (text) => problems.push(text),
    progress: (_label, share) => shares.push(share),
  };
  const code = await projectionsCommand(args, owner.pool, terminal);
  return { code, lines, problems, shares };
}

describe('given rows as the program writes them', () => {
  test('when projections are listed, then each says that it is current', async () => {
    const { code, lines } = await run('list');
    expect([code, lines.length]).toEqual([0, inlineProjections.length + asyncProjections.length]);
    for (const line of lines) expect(line).toMatch(/^\w+ +version \d+ {2}current/);
  });

  test('when one is rebuilt, then progress ends at the whole, and the tables are compared', async () => {
    await eventsVisible(platform.pool);
    const { code, lines, shares } = await run('rebuild', 'groups');
    expect([code, shares.at(-1)]).toEqual([0, 1]);
    expect(lines).toEqual(['groups: 1 rows before, 1 after, all the same']);
  });

  test('when a row is wrong, then the comparison names it', async () => {
    await platform.pool.query(`UPDATE groups SET name = 'wrong'`);
    await eventsVisible(platform.pool);
    const { lines } = await run('rebuild', 'groups');
    expect(lines).toEqual([
      `groups: 1 rows before, 1 after; 0 gone, 0 new, 1 changed, such as ${groupId()}`,
    ]);
  });
});

test('given rows of another version, when the outdated are rebuilt, then they alone are', async () => {
  await owner.pool.query(`UPDATE projection_versions SET version = 77 WHERE name = 'users'`);
  expect((await run('list')).lines.join('\n')).toMatch(
    /users +version 1 {2}of version 77: rebuild/,
  );
  expect((await run('rebuild', '--outdated')).lines).toEqual([
    'users: 0 rows before, 0 after, all the same',
  ]);
  expect((await run('rebuild', '--outdated')).lines).toEqual([]);
});

test.each([[], ['rebuild'], ['list', 'x'], ['rebuild', 'nothing'], ['rebuild', 'groups', 'x']])(
  'given a command that is none (%s %s), then it says how to ask',
  async (...args) => {
    const { code, problems } = await run(...args.filter((one) => typeof one === 'string'));
    expect(code).toBe(2);
    expect(problems.join()).toMatch(/Usage|There is no projection nothing: groups, /);
  },
);

test('the program finds its database, and says what it lacks', async () => {
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const start = (env: Record<string, string>) =>
    promisify(execFile)(process.execPath, [main, 'projections', 'list'], { env });
  const { stdout } = await start({ ORCH_DATABASE_ADMIN_URL: platform.adminUrl });
  expect(stdout).toMatch(/^audit +version/m);
  await expect(start({ ORCH_DATA_DIR: '/nowhere' })).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('ORCH_DATABASE_ADMIN_URL is missing'),
  });
});

test('a bar shows how much is done', () => {
  expect(bar('runs', 0.5)).toBe(`runs ${'█'.repeat(20)}${'░'.repeat(20)}  50 %`);
  expect(bar('runs', 7)).toBe(`runs ${'█'.repeat(40)} 100 %`);
});
