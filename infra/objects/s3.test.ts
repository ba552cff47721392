import { createHash } from 'node:crypto';
import { ListMultipartUploadsCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { objectKey } from '#domain/ports/object-keys.ts';
import {
  ObjectConflict,
  ObjectCorrupt,
  ObjectStoreUnavailable,
  type ObjectStore,
} from '#domain/ports/objects.ts';
import { s3Service, startS3Server, type TestS3Server } from '#infra/testing/s3-server.ts';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { describeObjectStore } from '../conformance/objects.ts';
import { createS3Calls, DEFAULT_LIMITS, type S3Calls } from './s3-calls.ts';
import { listObjects } from './s3-list.ts';
import { beginUpload, removeLeftovers } from './s3-upload.ts';
import { openS3Store } from './s3.ts';

const MIB = 1024 * 1024;
// The minimum part size that servers accept.
const PART_BYTES = 5 * MIB;
const text = (value: string) => new TextEncoder().encode(value);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

function bytesOf(sizeBytes: number): Uint8Array {
  return new Uint8Array(sizeBytes).map((_, index) => (index * 31) % 251);
}

async function* piecesOf(bytes: Uint8Array, sizeBytes = 700_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += sizeBytes) yield bytes.subarray(at, at + sizeBytes);
}

describeWith(s3Service, 'the object store on S3', () => {
  describeObjectStore('s3', async () => {
    const server = await startS3Server();
    const { location } = server;
    const { client } = createS3Calls(location, DEFAULT_LIMITS);
    return {
      store: openS3Store(location),
      damage: async (key, bytes) => {
        const object = { Bucket: location.bucket, Key: location.root + key };
        await client.send(new PutObjectCommand({ ...object, Body: bytes }));
      },
      close: () => server.stop(),
    };
  });

  describe('the bucket', () => {
    let server: TestS3Server;
    let calls: S3Calls;
    let store: ObjectStore;
    const key = objectKey.runArtifact('r1', 'a/b.txt');
    const uploads = async (): Promise<readonly unknown[]> => {
      const { bucket: Bucket, root: Prefix } = calls.location;
      const command = new ListMultipartUploadsCommand({ Bucket, Prefix });
      return (await calls.client.send(command)).Uploads ?? [];
    };

    beforeAll(async () => {
      server = await startS3Server();
      calls = createS3Calls(server.location, { ...DEFAULT_LIMITS, partBytes: PART_BYTES });
      store = openS3Store(server.location, { partBytes: PART_BYTES });
    });
    afterAll(() => server.stop());

    test('can be shared by stores with different prefixes, which are isolated from each other', async () => {
      const other = openS3Store({ ...server.location, root: 'elsewhere/' });
      await other.put(key, text('elsewhere'));
      expect(await store.get(key)).toBeUndefined();
      expect(await Array.fromAsync(store.list(''))).toEqual([]);
      expect(await Array.fromAsync(other.list(''))).toMatchObject([{ key }]);
    });

    test('refuses a key below an existing object, and a key that is a prefix of others', async () => {
      const at = (path: string) => objectKey.runArtifact('conflict', path);
      await store.put(at('a/b'), text('hello'));
      for (const path of ['a/b/c', 'a/b/c/d', 'a']) {
        await expect(store.put(at(path), text('x'))).rejects.toThrow(ObjectConflict);
        await expect(store.putStream(at(path), piecesOf(text('x')))).rejects.toThrow(
          ObjectConflict,
        );
      }
      expect(await Array.fromAsync(store.list('runs/conflict/'))).toHaveLength(1);
    });

    test('stores large objects in parts, both from memory and from a stream', async () => {
      const bytes = bytesOf(2 * PART_BYTES + 17);
      const blob = objectKey.runBlob('large', sha256(bytes));
      await store.put(blob, bytes);
      expect(sha256((await store.get(blob)) ?? text(''))).toBe(sha256(bytes));
      const even = bytes.subarray(0, 2 * PART_BYTES);
      const artifact = objectKey.runArtifact('large', 'even');
      expect(await store.putStream(artifact, piecesOf(even))).toBe(even.length);
      expect(sha256((await store.get(artifact)) ?? text(''))).toBe(sha256(even));
    });

    test('stores no part of a large stream that fails or does not match its key', async () => {
      const bytes = bytesOf(2 * PART_BYTES + 17);
      const failure = new Error('the source failed');
      const failing = async function* () {
        yield* piecesOf(bytes);
        throw failure;
      };
      const artifact = objectKey.runArtifact('broken', 'a');
      const blob = objectKey.runBlob('broken', sha256(text('something else')));
      await expect(store.putStream(artifact, failing())).rejects.toBe(failure);
      await expect(store.putStream(blob, piecesOf(bytes))).rejects.toThrow(ObjectCorrupt);
      expect(await Array.fromAsync(store.list('runs/broken/'))).toEqual([]);
      expect(await uploads()).toEqual([]);
    });

    test('is cleaned of old uploads that crashed writers left', async () => {
      const upload = await beginUpload(calls, key);
      await upload.add(bytesOf(PART_BYTES));
      await removeLeftovers(calls, Date.now() - 60_000);
      expect(await uploads()).toHaveLength(1);
      await removeLeftovers(calls, Date.now() + 60_000);
      expect(await uploads()).toEqual([]);
    });

    test('lists the same objects with any page size', async () => {
      const names = ['a', 'b/c', 'b-d', 'b/e/f', 'g'].map((name) =>
        objectKey.runArtifact('pages', name),
      );
      for (const each of names) await store.put(each, text(each));
      const all = await Array.fromAsync(store.list('runs/pages/'));
      for (const pageSize of [1, 2, 5]) {
        const listing = { prefix: 'runs/pages/', after: '', pageSize };
        expect(await Array.fromAsync(listObjects(calls, listing))).toEqual(all);
      }
      expect(all.map((info) => info.key)).toEqual(names.toSorted());
    });

    test('is reported as unavailable if it is missing or the credentials do not permit access', async () => {
      const { location } = server;
      const missing = openS3Store({ ...location, bucket: 'not-there' });
      const accessKeyId = location.credentials?.accessKeyId ?? '';
      const as = (id: string) =>
        openS3Store({ ...location, credentials: { accessKeyId: id, secretAccessKey: 'wrong' } });
      await expect(missing.get(key)).rejects.toThrow(/NoSuchBucket/);
      for (const each of [missing, as(accessKeyId), as('unknown')]) {
        await expect(each.get(key)).rejects.toThrow(ObjectStoreUnavailable);
        await expect(each.put(key, text('a'))).rejects.toThrow(ObjectStoreUnavailable);
        await expect(Array.fromAsync(each.list(''))).rejects.toThrow(ObjectStoreUnavailable);
      }
    });
  });
});
