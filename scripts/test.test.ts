import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseSkippedName, skippedName } from './testing/optional-service.ts';

const here = fileURLToPath(new URL('.', import.meta.url));

const PASSING = `test('passes', () => {});`;
const FAILING = `test('fails', () => { throw new Error('no'); });`;
const WITHOUT_SERVICE = `describeWith(
  { service: 'Chromium', found: undefined, reason: 'no binary: looked in /usr' },
  'the dashboard',
  () => { test('opens', () => {}); describe('and then', () => { test('closes', () => {}); }); },
);`;
const WITH_SERVICE = `describeWith(
  { service: 'Redis', found: '127.0.0.1:1', reason: 'unused' },
  'the adapter',
  () => { test('answers', () => {}); },
);`;

describe('the test command', () => {
  let root: string;

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'test-command-'));
    symlinkSync(join(here, '../node_modules'), join(root, 'node_modules'));
  });

  afterAll(() => {
    rmSync(root, { recursive: true });
  });

  function run(source: string, env: Record<string, string> = {}) {
    const header = `import { describe, test } from 'vitest';
      import { describeWith } from ${JSON.stringify(join(here, 'testing/optional-service.ts'))};`;
    writeFileSync(join(root, 'sample.test.ts'), `${header}\n${source}\n`);
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(CI|ORCH|VITEST)/.test(name),
    );
    const { status, stdout } = spawnSync(
      process.execPath,
      [join(here, 'test.ts'), '--root', root],
      { encoding: 'utf8', cwd: root, env: { ...Object.fromEntries(inherited), ...env } },
    );
    const lines = stdout.trimEnd().split('\n');
    return { status, lines, last: lines.at(-1) };
  }

  test('prints the number of passed tests last', () => {
    expect(run(PASSING + WITH_SERVICE)).toMatchObject({
      status: 0,
      last: '2 passed, 0 failed, 0 skipped',
    });
  });

  test('fails when a test fails, and names it before the count', () => {
    const { status, lines } = run(PASSING + FAILING);
    expect(status).toBe(1);
    expect(lines.slice(-2)).toEqual([
      'failed: sample.test.ts > fails: no',
      '1 passed, 1 failed, 0 skipped',
    ]);
  });

  test('fails when a file cannot be loaded', () => {
    const { status, last } = run(`import './absent.ts';`);
    expect({ status, last }).toEqual({ status: 1, last: '0 passed, 1 failed, 0 skipped' });
  });

  test('fails when there are no tests', () => {
    expect(run('describe.skip("empty", () => {});').status).toBe(1);
  });

  test('names each skipped suite and its missing service', () => {
    const { status, lines, last } = run(PASSING + WITHOUT_SERVICE);
    expect(lines).toContain('skipped: the dashboard (no Chromium: no binary: looked in /usr)');
    expect({ status, last }).toEqual({ status: 0, last: '1 passed, 0 failed, 2 skipped' });
  });

  test.each([{ CI: 'true' }, { ORCH_TEST_REQUIRE_ALL: 'true' }])(
    'fails if a test is skipped with %o',
    (env) => {
      expect(run(PASSING + WITHOUT_SERVICE, env)).toMatchObject({
        status: 1,
        last: '1 passed, 0 failed, 2 skipped',
      });
    },
  );
});

describe('the name of a skipped suite', () => {
  test('contains the service and the reason', () => {
    const optional = { service: 'NATS', found: undefined, reason: 'no binary: none' };
    expect(parseSkippedName(skippedName(optional, 'the bus: fan-out'))).toEqual({
      suite: 'the bus: fan-out',
      service: 'NATS',
      reason: 'no binary: none',
    });
  });

  test('is distinguished from names of other suites', () => {
    expect(parseSkippedName('the bus: fan-out')).toBeUndefined();
  });
});
