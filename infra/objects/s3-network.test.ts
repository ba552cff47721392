import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { objectKey, type ObjectKey } from '#domain/ports/object-keys.ts';
import { ObjectStoreUnavailable, type ObjectStore } from '#domain/ports/objects.ts';
import type { Fault } from '#infra/testing/fault-proxy.ts';
import { s3Service, startS3Server, type TestS3Server } from '#infra/testing/s3-server.ts';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { openS3Store } from './s3.ts';

const BODY_BYTES = 400_000;
const MID_BODY = BODY_BYTES / 2;
const PART_BYTES = 5 * 1024 * 1024;
const text = (value: string) => new TextEncoder().encode(value);
const sha256 = (bytes: Uint8Array | undefined) =>
  bytes && createHash('sha256').update(bytes).digest('hex');

function bytesOf(sizeBytes: number, seed: number): Uint8Array {
  return new Uint8Array(sizeBytes).map((_, index) => (index * 31 + seed) % 251);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const cutAnswer = (afterBytes: number, isOnce: boolean): Fault => {
  return { kind: 'cut', direction: 'response', afterBytes, once: isOnce };
};
const cutRequest = (afterBytes: number, isOnce: boolean): Fault => {
  return { kind: 'cut', direction: 'request', afterBytes, once: isOnce };
};

describeWith(s3Service, 'the object store on S3, when its network fails', () => {
  let server: TestS3Server;
  let store: ObjectStore;
  /** A store with short timeouts. */
  let hasty: ObjectStore;
  const key = objectKey.runArtifact('r1', 'a');
  const body = bytesOf(BODY_BYTES, 1);
  const blob = objectKey.runBlob('r1', sha256(body) ?? '');

  const everything = (of: ObjectStore, into: ObjectKey): (() => Promise<unknown>)[] => [
    () => of.get(key),
    () => of.getStream(key),
    () => of.head(key),
    () => Array.fromAsync(of.list('runs/')),
    () => of.put(into, body),
    () => of.put(blob, body),
    () => of.putStream(into, once(body)),
    () => of.delete(into),
  ];

  beforeAll(async () => {
    server = await startS3Server();
    store = openS3Store(server.location, { partBytes: PART_BYTES });
    hasty = openS3Store(server.location, {
      answerTimeoutMs: 300,
      callTimeoutMs: 1000,
      idleTimeoutMs: 300,
      attempts: 2,
    });
    await store.put(key, body);
  });
  afterEach(() => server.proxy.set({ kind: 'pass' }));
  afterAll(() => server.stop());

  test('detects an unreachable server within seconds, and reconnects after its recovery', async () => {
    await server.proxy.set({ kind: 'refuse' });
    const startedAt = performance.now();
    const calls = everything(store, objectKey.runArtifact('r1', 'gone'));
    const ends = await Promise.allSettled(calls.map((call) => call()));
    for (const end of ends) {
      expect(end).toMatchObject({ reason: expect.any(ObjectStoreUnavailable) });
    }
    expect(performance.now() - startedAt).toBeLessThan(5000);
    await server.proxy.set({ kind: 'pass' });
    expect(sha256(await store.get(key))).toBe(sha256(body));
  });

  test('does not block callers indefinitely when the server never responds', async () => {
    await server.proxy.set({ kind: 'hang', direction: 'response', afterBytes: 0 });
    const calls = everything(hasty, objectKey.runArtifact('r1', 'mute'));
    const ends = await Promise.allSettled(calls.map((call) => call()));
    for (const end of ends) {
      expect(end).toMatchObject({ reason: expect.any(ObjectStoreUnavailable) });
    }
  });

  test('retries a call after a timeout', async () => {
    const patient = openS3Store(server.location, { answerTimeoutMs: 1000, callTimeoutMs: 30_000 });
    await server.proxy.set({ kind: 'hang', direction: 'response', afterBytes: 0, once: true });
    expect(sha256(await patient.get(key))).toBe(sha256(body));
    await server.proxy.struck();
  });

  describe('a read', () => {
    test('reports an error when the body is always truncated', async () => {
      await server.proxy.set(cutAnswer(MID_BODY, false));
      await expect(store.get(key)).rejects.toThrow(ObjectStoreUnavailable);
      const pieces = await store.getStream(key);
      let readBytes = 0;
      const reading = (async () => {
        for await (const piece of pieces ?? []) readBytes += piece.byteLength;
      })();
      await expect(reading).rejects.toThrow(`the download of object ${key} was interrupted`);
      expect(readBytes).toBeLessThan(BODY_BYTES);
    });

    test('is retried when the body was truncated once', async () => {
      await server.proxy.set(cutAnswer(MID_BODY, true));
      expect(sha256(await store.get(key))).toBe(sha256(body));
      await server.proxy.struck();
    });

    test('reports an error when the body stalls', async () => {
      await server.proxy.set({ kind: 'hang', direction: 'response', afterBytes: MID_BODY });
      await expect(hasty.get(key)).rejects.toThrow(ObjectStoreUnavailable);
      const pieces = await hasty.getStream(key);
      await expect(Array.fromAsync(pieces ?? [])).rejects.toThrow(ObjectStoreUnavailable);
    });

    test('waits for a slow response', async () => {
      await server.proxy.set({ kind: 'delay', delayMs: 20 });
      expect(sha256(await store.get(key))).toBe(sha256(body));
    });
  });

  describe('a write', () => {
    const target = objectKey.runArtifact('r2', 'target');
    const changed = bytesOf(BODY_BYTES, 2);

    test('changes nothing if every attempt is interrupted', async () => {
      await store.put(target, body);
      await server.proxy.set(cutRequest(MID_BODY, false));
      await expect(store.put(target, changed)).rejects.toThrow(ObjectStoreUnavailable);
      await expect(store.putStream(target, once(changed))).rejects.toThrow(ObjectStoreUnavailable);
      await server.proxy.set({ kind: 'pass' });
      expect(sha256(await store.get(target))).toBe(sha256(body));
    });

    test('succeeds if one attempt is interrupted', async () => {
      await server.proxy.set(cutRequest(MID_BODY, true));
      await store.put(target, changed);
      await server.proxy.struck();
      expect(sha256(await store.get(target))).toBe(sha256(changed));
    });

    test('is retried if its response is lost', async () => {
      await server.proxy.set(cutAnswer(0, true));
      await store.put(blob, body);
      await server.proxy.struck();
      expect(sha256(await store.get(blob))).toBe(sha256(body));
    });

    test('stores a large object even if the last response is lost', async () => {
      const large = bytesOf(PART_BYTES, 3);
      const source = async function* () {
        yield large;
        // The only part has been stored, and the next step completes the object.
        await server.proxy.set(cutAnswer(0, true));
      };
      await store.putStream(target, source());
      await server.proxy.struck();
      expect(sha256(await store.get(target))).toBe(sha256(large));
    });

    test('fails for a large object if the server becomes unreachable, and keeps the previous object', async () => {
      await store.put(target, body);
      const source = async function* () {
        yield bytesOf(PART_BYTES, 4);
        await server.proxy.set({ kind: 'refuse' });
        yield text('the end');
      };
      await expect(store.putStream(target, source())).rejects.toThrow(ObjectStoreUnavailable);
      await server.proxy.set({ kind: 'pass' });
      expect(sha256(await store.get(target))).toBe(sha256(body));
    });
  });

  describe('a listing', () => {
    const names = Array.from({ length: 20 }, (_, n) => objectKey.runArtifact('r3', `${n}`));

    beforeAll(() => Promise.all(names.map((name) => store.put(name, text(name)))));

    test('reports an error when a page is always truncated', async () => {
      await server.proxy.set(cutAnswer(2000, false));
      await expect(Array.fromAsync(store.list('runs/r3/'))).rejects.toThrow(ObjectStoreUnavailable);
      await server.proxy.struck();
    });

    test('reports an error when a page stalls', async () => {
      await server.proxy.set({ kind: 'hang', direction: 'response', afterBytes: 2000 });
      await expect(Array.fromAsync(hasty.list('runs/r3/'))).rejects.toThrow(ObjectStoreUnavailable);
      await server.proxy.struck();
    });
  });
});
