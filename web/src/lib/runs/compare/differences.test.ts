import { describe, expect, test } from 'vitest';
import type { Artifact, Environment } from '#lib/api/types.ts';
import { artifactPairs, pairState } from './artifact-pairs.ts';
import { change, changedEntries, changedPackages } from './differences.ts';

test('the comparison lists parameters that differ or are missing in one run', () => {
  expect(changedEntries({ a: 1, b: [1], c: 'x' }, { a: 1, b: [2], d: null })).toEqual([
    { name: 'b', before: '[1]', after: '[2]' },
    { name: 'c', before: '"x"', after: null },
    { name: 'd', before: null, after: 'null' },
  ]);
  expect(changedEntries(null, { a: 1 })).toEqual([{ name: 'a', before: null, after: '1' }]);
});

test('the comparison lists packages whose versions differ in the latest locks', () => {
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

test('the comparison shows the relative change of a number', () => {
  expect([change(100, 140), change(100, 60), change(100, 100), change(0, 5)]).toEqual([
    '+40%',
    '−40%',
    '',
    '',
  ]);
});

describe('artifacts of two runs', () => {
  const artifact = (path: string, etag: string, size_bytes = 1) =>
    ({ path, etag, size_bytes, updated_at: '' }) as Artifact;

  test('are paired by path and show how they differ', () => {
    const before = [artifact('a', '1'), artifact('b', '1'), artifact('c', '1'), artifact('d', '1')];
    const after = [
      artifact('e', '1'),
      artifact('b', '1'),
      artifact('c', '2'),
      artifact('d', '2', 5),
    ];
    expect(artifactPairs(before, after).map((pair) => [pair.path, pairState(pair)])).toEqual([
      ['a', 'Only in the other run'],
      ['b', 'Identical'],
      ['c', 'Same size'],
      ['d', 'Changed'],
      ['e', 'Only in this run'],
    ]);
  });
});
