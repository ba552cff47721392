import type { Command, Recorded } from '#domain/aggregates.ts';
import { scriptId } from '#domain/testing/ids.ts';
import { at, beginning, recordAll } from '#domain/testing/recorded.ts';
import { createScript, file } from '#domain/testing/samples.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyAll, type ReadModels } from '../projection.ts';
import { inlineProjections } from '../registry.ts';
import { openTestReads, type TestReads } from '../testing/delivery.ts';
import { rowsSeen } from '../testing/rows-seen.ts';
import { findFile, findSavedFile, listFiles } from './files.ts';
import { findScript } from './queries.ts';

const paths = ['Zebra.py', 'data/rows.csv', 'lib/a.py', 'lib/b.py', 'main.py'];
const often = scriptId(3);
const seldom = scriptId(4);

/** Creates saves in a pseudo-random order, with sizes from 1 to 50. Every tenth event deletes a file instead. */
function changesOf(id: typeof often, count: number): readonly Command[] {
  return Array.from({ length: count }, (_, index) => {
    const path = paths[(index * 7 + (index >> 3)) % paths.length] ?? 'main.py';
    return index % 10 === 9
      ? ({ type: 'DeleteFile', scriptId: id, path } as const)
      : ({
          type: 'SaveFile',
          scriptId: id,
          ...file(path, 'abcdef'[index % 6], 1 + (index % 50)),
        } as const);
  });
}

const history: readonly Command[] = [
  ...beginning,
  { type: 'SaveFile', scriptId: scriptId(), ...file('lib/b.py', 'b', 5) },
  { type: 'SaveFile', scriptId: scriptId(), ...file('main.py', 'c', 30) },
  { type: 'SaveFile', scriptId: scriptId(), ...file('Zebra.py', 'd', 1) },
  createScript({ scriptId: often, files: [] }),
  ...changesOf(often, 400),
  createScript({ scriptId: seldom, files: [] }),
  ...changesOf(seldom, 40),
];

let reads: TestReads;
let events: readonly Recorded[];
beforeAll(async () => {
  reads = await openTestReads();
  events = await recordAll(history);
  await applyAll(inlineProjections, reads.db, events);
});
afterAll(() => reads.close());

describe('the files of a script', () => {
  const paths = async (options?: Parameters<typeof listFiles>[2]) =>
    (await listFiles(reads.db, scriptId(), options)).map((found) => found.path);

  test('are listed in byte order, as of the current version', async () => {
    expect(await listFiles(reads.db, scriptId())).toEqual([
      { path: 'Zebra.py', sha256: 'd'.repeat(64), size_bytes: 1, saved_at: at(6) },
      { path: 'lib/b.py', sha256: 'b'.repeat(64), size_bytes: 5, saved_at: at(4) },
      { path: 'main.py', sha256: 'c'.repeat(64), size_bytes: 30, saved_at: at(5) },
    ]);
    expect(await listFiles(reads.db, scriptId(2))).toEqual([]);
  });

  test.each([
    [0, []],
    [1, ['main.py']],
    [2, ['lib/b.py', 'main.py']],
    [3, ['lib/b.py', 'main.py']],
    [4, ['Zebra.py', 'lib/b.py', 'main.py']],
    [99, ['Zebra.py', 'lib/b.py', 'main.py']],
  ])('as of version %i are %j', async (version, expected) => {
    expect(await paths({ version })).toEqual(expected);
  });

  test('are listed page by page', async () => {
    expect(await paths({ limit: 2 })).toEqual(['Zebra.py', 'lib/b.py']);
    expect(await paths({ limit: 2, after: 'lib/b.py' })).toEqual(['main.py']);
    expect(await paths({ limit: 2, after: 'main.py' })).toEqual([]);
  });

  test('have the most recently saved content at each version', async () => {
    const letter = async (version?: number) =>
      (await findFile(reads.db, scriptId(), 'main.py', version))?.sha256[0];
    expect([await letter(1), await letter(2), await letter(3)]).toEqual(['a', 'a', 'c']);
    expect(await letter()).toBe('c');
    expect(await findFile(reads.db, scriptId(), 'lib/b.py', 1)).toBeUndefined();
    expect(await findFile(reads.db, scriptId(2), 'main.py')).toBeUndefined();
  });

  test('are found by content, with the version that added it', async () => {
    const found = await findSavedFile(reads.db, scriptId(), 'main.py', 'a'.repeat(64));
    expect(found).toMatchObject({ version: 1, size_bytes: 10 });
    expect(await findSavedFile(reads.db, scriptId(), 'main.py', 'f'.repeat(64))).toBeUndefined();
  });
});

describe.each([
  ['often', often],
  ['rarely', seldom],
])('the files of a script that was changed %s', (_, id) => {
  /** Returns the files of a version, as computed from the events. */
  function expected(version: number) {
    const files = new Map<string, { readonly sha256: string; readonly size_bytes: number }>();
    for (const { type, data } of events) {
      if (type === 'FileSaved' && data.scriptId === id && data.version <= version) {
        files.set(data.path, { sha256: data.sha256, size_bytes: data.sizeBytes });
      } else if (type === 'FileDeleted' && data.scriptId === id && data.version <= version) {
        files.delete(data.path);
      }
    }
    return [...files].map(([path, file]) => ({ path, ...file })).toSorted(byPath);
  }

  test('match the event history at each version', async () => {
    const last = (await findScript(reads.db, id))?.version ?? 0;
    for (let version = 1; version <= last; version += 13) {
      const files = await listFiles(reads.db, id, { version });
      expect(files.map(({ saved_at: _when, ...file }) => file)).toEqual(expected(version));
    }
    const behind = expected(last).filter(({ path }) => path > 'data/rows.csv');
    const page = await listFiles(reads.db, id, { after: 'data/rows.csv', limit: 2 });
    expect(page).toMatchObject(behind.slice(0, 2));
  });

  test('have the same total size as in the event history', async () => {
    const script = await findScript(reads.db, id);
    const sizes = expected(script?.version ?? 0).map((file) => file.size_bytes);
    expect(script?.storage_used_bytes).toBe(sizes.reduce((sum, size) => sum + size, 0));
  });

  test('are found by reading only a few rows per file', async () => {
    const looks = [(db: ReadModels) => findScript(db, id), (db: ReadModels) => listFiles(db, id)];
    for (const look of looks) {
      expect(await rowsSeen(reads.db, ['script_files'], look)).toBeLessThanOrEqual(40);
    }
  });
});

function byPath(one: { readonly path: string }, other: { readonly path: string }): number {
  return one.path < other.path ? -1 : 1;
}
