import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { objectKey } from '#domain/ports/object-keys.ts';
import { s3Service, startS3Server } from '#infra/testing/s3-server.ts';
import { readConfig } from '#services/shared/config.ts';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { openObjectStore } from './open.ts';

const NAMES = [
  'objectsDir',
  'objectsUrl',
  's3Endpoint',
  's3Region',
  's3AccessKeyId',
  's3SecretAccessKey',
  's3PathStyle',
] as const;
const hello = new TextEncoder().encode('hello');
const key = objectKey.system('hello');

describe('the configured object store', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'objects-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('is a folder if no S3 address is set', async () => {
    const store = await openObjectStore(readConfig(NAMES, { ORCH_OBJECTS_DIR: folder }));
    await store.put(key, hello);
    expect(await readFile(join(folder, key), 'utf8')).toBe('hello');
  });

  test('cannot be opened with incomplete credentials', async () => {
    const environment = { ORCH_OBJECTS_URL: 's3://bucket', ORCH_S3_ACCESS_KEY_ID: 'a' };
    await expect(openObjectStore(readConfig(NAMES, environment))).rejects.toThrow(
      /ORCH_S3_SECRET_ACCESS_KEY/,
    );
  });

  test.each(['http://bucket', 's3://', 's3://A', 's3://bucket/../x', 's3://bucket/a b'])(
    'cannot be opened with the URL %s',
    (address) => {
      const environment = { ORCH_OBJECTS_URL: address };
      expect(() => readConfig(NAMES, environment)).toThrow(/ORCH_OBJECTS_URL.*s3:\/\/bucket/);
    },
  );
});

describeWith(s3Service, 'an object store on S3 in the settings', () => {
  test.each(['', '/', '/some/prefix', '/prefix/'])(
    'opens a bucket with the path "%s"',
    async (prefix) => {
      const { location, stop } = await startS3Server();
      const environment = {
        ORCH_OBJECTS_URL: `s3://${location.bucket}${prefix}`,
        ORCH_S3_ENDPOINT: location.endpoint,
        ORCH_S3_ACCESS_KEY_ID: location.credentials?.accessKeyId,
        ORCH_S3_SECRET_ACCESS_KEY: location.credentials?.secretAccessKey,
      };
      try {
        const store = await openObjectStore(readConfig(NAMES, environment));
        await store.put(key, hello);
        expect(await store.get(key)).toEqual(Buffer.from(hello));
        expect(await Array.fromAsync(store.list('system/'))).toMatchObject([{ key }]);
        await store.delete(key);
      } finally {
        await stop();
      }
    },
  );
});
