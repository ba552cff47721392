/** Checks that docs/settings.md matches the declared settings. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Setting } from './setting.ts';
import { settings } from './settings.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(`${root}/${path}`, 'utf8');

/** The table rows of docs/settings.md, one for each setting. */
const rows = read('docs/settings.md')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, name = '', fallback = '', value = '', meaning = '']) => ({
    name: name.replaceAll('`', ''),
    fallback,
    value,
    meaning,
  }));
/** Settings whose defaults depend on the machine. */
const ofTheMachine = [
  'ORCH_MAX_CONNECTIONS',
  'ORCH_DATA_DIR',
  'ORCH_OBJECTS_DIR',
  'ORCH_WORK_DIR',
  'ORCH_RUNTIME_ID',
  'ORCH_RUNTIME_SLOTS',
];

function fallbackOf({ fallback }: Setting<unknown>): string {
  if (fallback === undefined) return 'required';
  const shown = (edition: 'minimal' | 'production') => {
    const value = fallback({ dataDir: '', edition });
    const isNone = value === undefined || (Array.isArray(value) && value.length === 0);
    return isNone ? 'none' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
  };
  const [production, minimal] = [shown('production'), shown('minimal')];
  return production === minimal ? production : `${production}; ${minimal} in the minimal edition`;
}

test('docs/settings.md lists exactly the declared settings', () => {
  const known = Object.values(settings).map(({ variable }) => variable);
  expect(rows.map(({ name }) => name).toSorted()).toEqual(known.toSorted());
});

test.each(Object.values(settings))(
  'docs/settings.md describes $variable with its default and permitted values',
  (setting: Setting<unknown>) => {
    const row = rows.find(({ name }) => name === setting.variable);
    const secrecy = setting.secret ? '; never shown' : '';
    expect(row?.value).toBe(`${setting.expected}${secrecy}`);
    expect(row?.meaning).toMatch(/\w/);
    if (ofTheMachine.includes(setting.variable)) expect(row?.fallback).toMatch(/\w/);
    else expect(row?.fallback).toBe(fallbackOf(setting));
  },
);

test('all environment variables that programs read are documented', () => {
  const named = ['settings', 'sdk', 'webhooks'].map((page) => read(`docs/${page}.md`)).join('\n');
  const files = globSync('{services,infra}/**/*.{ts,py}', { cwd: root }).filter(
    (path) => !/\.test\.ts$|\/testing\/|node_modules/.test(path),
  );
  expect(files.length).toBeGreaterThan(300);
  // Internal variables, which users do not set.
  const own = ['ORCH_KEEPER', 'ORCH_REPORT_ERRORS', 'ORCH_TEST_'];
  const found = files.flatMap((path) =>
    [...read(path).matchAll(/\bORCH_[A-Z][A-Z0-9_]*/g)].map(([name]) => `${path}: ${name}`),
  );
  const unknown = found.filter((one) => {
    const name = one.split(': ')[1]?.replace(/_FILE$/, '') ?? '';
    return !own.includes(name) && !named.includes(`\`${name}`);
  });
  expect([...new Set(unknown)]).toEqual([]);
});
