/** The contract for all object store adapters. Each adapter's test calls this suite. */
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { objectKey, type ObjectKey } from '#domain/ports/object-keys.ts';
import { ObjectCorrupt, type ListOptions, type ObjectStore } from '#domain/ports/objects.ts';

export interface ObjectStoreFixture {
  readonly store: ObjectStore;
  /** Replaces the stored bytes directly, as a failing disk would. */
  damage(key: ObjectKey, bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const LARGE_BYTES = 3 * 1024 * 1024 + 17;

// Deterministic bytes, so that a failure can be reproduced.
function largeBytes(seed: number): Uint8Array {
  return Uint8Array.from({ length: LARGE_BYTES }, (_, index) => (index * 31 + seed) % 251);
}

async function* piecesOf(bytes: Uint8Array, sizeBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += sizeBytes) yield bytes.subarray(at, at + sizeBytes);
}

async function joined(pieces: AsyncIterable<Uint8Array> | undefined): Promise<Uint8Array> {
  return Buffer.concat(await Array.fromAsync(pieces ?? []));
}

function same(actual: Uint8Array | undefined, expected: Uint8Array): void {
  expect(actual === undefined ? undefined : sha256(actual)).toBe(sha256(expected));
}

export function describeObjectStore(name: string, open: () => Promise<ObjectStoreFixture>): void {
  describe(`object store: ${name}`, () => {
    let fixture: ObjectStoreFixture;
    let store: ObjectStore;
    // Each test uses its own run, so that tests do not see each other's objects.
    const ownRun = () => {
      const runId = randomUUID();
      return {
        key: (path: string) => objectKey.runArtifact(runId, path),
        prefix: `runs/${runId}/`,
        blob: (bytes: Uint8Array) => objectKey.runBlob(runId, sha256(bytes)),
      };
    };
    const keys = async (prefix: string, options?: ListOptions) =>
      (await Array.fromAsync(store.list(prefix, options))).map((info) => info.key);

    beforeAll(async () => {
      fixture = await open();
      store = fixture.store;
    });
    afterAll(() => fixture.close());

    describe('reading and writing', () => {
      test('returns stored objects, including empty ones', async () => {
        const { key } = ownRun();
        await store.put(key('a.txt'), text('hello'));
        await store.put(key('empty'), new Uint8Array());
        same(await store.get(key('a.txt')), text('hello'));
        same(await store.get(key('empty')), new Uint8Array());
      });

      test('returns undefined for a missing object', async () => {
        const { key } = ownRun();
        expect(await store.get(key('a'))).toBeUndefined();
        expect(await store.getStream(key('a'))).toBeUndefined();
        expect(await store.head(key('a'))).toBeUndefined();
      });

      test('returns the most recently stored content', async () => {
        const { key } = ownRun();
        await store.put(key('a'), text('a longer first version'));
        await store.put(key('a'), text('second'));
        same(await store.get(key('a')), text('second'));
      });

      test('distinguishes keys with any allowed characters', async () => {
        const { key, prefix } = ownRun();
        const names = ['ä ö', 'a%2Fb', 'a+b', 'a?b#c', '日本語', '-rf', '~', "it's", 'a:b'];
        for (const each of names) await store.put(key(each), text(each));
        for (const each of names) same(await store.get(key(each)), text(each));
        expect((await keys(prefix)).toSorted()).toEqual(names.map(key).toSorted());
      });

      test('shows one complete version to concurrent readers', async () => {
        const { key } = ownRun();
        const versions = [largeBytes(1), largeBytes(2)] as const;
        const hashes = versions.map(sha256);
        await store.put(key('a'), versions[0]);
        const writes = Promise.all([1, 0, 1, 0].map((n) => store.put(key('a'), versions[n]!)));
        for (let reads = 0; reads < 10; reads += 1) {
          const bytes = await store.get(key('a'));
          expect(hashes).toContain(bytes && sha256(bytes));
        }
        await writes;
      });

      test('returns the size and time of an object without its content', async () => {
        const { key } = ownRun();
        await store.put(key('a'), text('hello'));
        const info = await store.head(key('a'));
        expect(info).toMatchObject({ key: key('a'), sizeBytes: 5 });
        expect(Math.abs(Date.now() - (info?.modifiedAtMs ?? 0))).toBeLessThan(60_000);
      });

      test('changes the tag with the content, and returns the same tag in lists', async () => {
        const { key, prefix } = ownRun();
        const tags: (string | undefined)[] = [];
        for (const content of ['one', 'two', 'three']) {
          await store.put(key('a'), text(content));
          const [listed] = await Array.fromAsync(store.list(prefix));
          const info = await store.head(key('a'));
          expect(info?.etag).toBe(listed?.etag);
          expect(info?.etag).toMatch(/^[\x21-\x7e]+$/);
          expect(info?.etag).not.toContain('"');
          tags.push(info?.etag);
        }
        expect(new Set(tags).size).toBe(3);
      });

      test('stores a hundred concurrent writes', async () => {
        const { key, prefix } = ownRun();
        const names = Array.from({ length: 100 }, (_, n) => `many/${n % 10}/${n}`);
        await Promise.all(names.map((each) => store.put(key(each), text(each))));
        expect(await keys(prefix)).toHaveLength(100);
      });
    });

    describe('streams', () => {
      test('writes and reads a large object in chunks', async () => {
        const { key } = ownRun();
        const bytes = largeBytes(3);
        expect(await store.putStream(key('big'), piecesOf(bytes, 70_000))).toBe(LARGE_BYTES);
        same(await joined(await store.getStream(key('big'))), bytes);
        same(await store.get(key('big')), bytes);
      });

      test('keeps the previous object when a stream fails', async () => {
        const { key, prefix } = ownRun();
        const failure = new Error('the source failed');
        const failing = async function* () {
          yield text('half');
          throw failure;
        };
        await store.put(key('a'), text('before'));
        await expect(store.putStream(key('a'), failing())).rejects.toBe(failure);
        await expect(store.putStream(key('b'), failing())).rejects.toBe(failure);
        same(await store.get(key('a')), text('before'));
        expect(await keys(prefix)).toEqual([key('a')]);
      });

      test('allows readers to stop before the end', async () => {
        const { key } = ownRun();
        await store.put(key('big'), largeBytes(4));
        const pieces = await store.getStream(key('big'));
        for await (const piece of pieces ?? []) {
          expect(piece.byteLength).toBeGreaterThan(0);
          break;
        }
      });
    });

    describe('blobs', () => {
      test('can be put twice, even concurrently', async () => {
        const { blob } = ownRun();
        const bytes = text('print("hello")');
        await Promise.all([store.put(blob(bytes), bytes), store.put(blob(bytes), bytes)]);
        await store.put(blob(bytes), bytes);
        same(await store.get(blob(bytes)), bytes);
      });

      test('are refused if the content does not match the key', async () => {
        const { blob, prefix } = ownRun();
        const key = blob(text('one'));
        await expect(store.put(key, text('two'))).rejects.toThrow(ObjectCorrupt);
        await expect(store.putStream(key, piecesOf(text('two'), 1))).rejects.toThrow(ObjectCorrupt);
        expect(await keys(prefix)).toEqual([]);
      });

      test('are reported with their key when damaged, and repaired by another put', async () => {
        const { blob } = ownRun();
        const bytes = text('print("hello")');
        const key = blob(bytes);
        await store.put(key, bytes);
        await fixture.damage(key, text('print("hellO")'));
        await expect(store.get(key)).rejects.toThrow(key);
        await expect(store.getStream(key).then(joined)).rejects.toThrow(ObjectCorrupt);
        await store.put(key, bytes);
        same(await store.get(key), bytes);
      });
    });

    describe('listing', () => {
      test('is in byte order of the keys, and includes sizes', async () => {
        const { key, prefix } = ownRun();
        const names = ['a/b', 'a-b', 'a.b', 'b', 'a/a/c', 'Z', 'é', 'a0', '\u{1f600}', '\uffee'];
        for (const each of names) await store.put(key(each), text(each));
        const found = await Array.fromAsync(store.list(prefix));
        const expected = names.map(key).toSorted((a, b) => Buffer.from(a).compare(Buffer.from(b)));
        expect(found.map((info) => info.key)).toEqual(expected);
        expect(found[0]).toMatchObject({ sizeBytes: 1 });
      });

      test('accepts a prefix that ends within a path segment', async () => {
        const { key, prefix } = ownRun();
        for (const each of ['aa/x', 'ab', 'b', 'abc']) {
          await store.put(key(each), text(each));
        }
        expect(await keys(`${prefix}artifacts/a`)).toEqual([key('aa/x'), key('ab'), key('abc')]);
        expect(await keys(`${prefix}artifacts/ab`)).toEqual([key('ab'), key('abc')]);
        expect(await keys(`${prefix}artifacts/aa/`)).toEqual([key('aa/x')]);
        expect(await keys(`${prefix}artifacts/zz`)).toEqual([]);
      });

      test('continues after any key, even one that no longer exists', async () => {
        const { key, prefix } = ownRun();
        const names = ['a', 'b-c', 'b/a', 'b/b', 'c'];
        for (const each of names) await store.put(key(each), text(each));
        expect(await keys(prefix, { after: key('b/a') })).toEqual([key('b/b'), key('c')]);
        expect(await keys(prefix, { after: key('b/aa') })).toEqual([key('b/b'), key('c')]);
        expect(await keys(prefix, { after: key('b') })).toEqual(names.slice(1).map(key));
        expect(await keys(prefix, { after: key('c') })).toEqual([]);
      });

      test('lists nothing outside the store', async () => {
        for (const prefix of ['../', '/', './', 'runs/../../', '//', '\u0000', 'other/']) {
          expect(await keys(prefix)).toEqual([]);
        }
      });
    });

    describe('deleting', () => {
      test('removes one object, and can be repeated', async () => {
        const { key, prefix } = ownRun();
        await store.put(key('a'), text('a'));
        await store.put(key('b/c'), text('c'));
        await store.delete(key('b/c'));
        await store.delete(key('b/c'));
        await store.delete(key('b'));
        expect(await keys(prefix)).toEqual([key('a')]);
        expect(await store.get(key('b/c'))).toBeUndefined();
      });

      test('does not disturb a concurrent put', async () => {
        const { key } = ownRun();
        for (let round = 0; round < 20; round += 1) {
          await store.put(key('x/old'), text('old'));
          await Promise.all([store.delete(key('x/old')), store.put(key('x/new'), text('new'))]);
          same(await store.get(key('x/new')), text('new'));
          await store.delete(key('x/new'));
        }
      });
    });
  });
}
