import { expect, test } from 'vitest';
import type { Environment } from '#lib/api/types.ts';
import { change, changedEntries, changedPackages } from './differences.ts';

test('lists parameters that differ or are missing in one run', () => {
  expect(changedEntries({ a: 1, b: [1], c: 'x' }, { a: 1, b: [2], d: null })).toEqual([
    { name: 'b', before: '[1]', after: '[2]' },
    { name: 'c', before: '"x"', after: null },
    { name: 'd', before: null, after: 'null' },
  ]);
  expect(changedEntries(null, { a: 1 })).toEqual([{ name: 'a', before: null, after: '1' }]);
});

test('lists packages that differ in their last choice', () => {
  const lock = (lockedAt: string, version: string) => ({
    target: 'Linux',
    locked_at: lockedAt,
    packages: [
      { name: 'requests', version, hashes: [] },
      { name: 'idna', version: '3', hashes: [] },
    ],
  });
  const environment = (...locks: Environment['locks']): Environment => ({
    script_id: 's',
    version: 1,
    locks,
  });
  const before = environment(lock('2026-02', '2.1'), lock('2026-01', '1.0'));
  expect(changedPackages(before, environment(lock('2026-03', '2.2')))).toEqual([
    { name: 'requests', before: '2.1', after: '2.2' },
  ]);
});

test('describes a difference in size', () => {
  expect([change(100, 140), change(100, 60), change(100, 100), change(0, 5)]).toEqual([
    '+40%',
    '−40%',
    '',
    '',
  ]);
});
