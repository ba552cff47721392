import { expect, test } from 'vitest';
import { freePorts } from '#infra/testing/free-ports.ts';
import { openObjects } from './objects.ts';

test('an object store that does not respond is named in the error, and the process keeps running', async () => {
  const [port] = await freePorts(1);
  const told = Promise.withResolvers<unknown>();
  await openObjects(
    {
      objectsDir: '/nowhere',
      objectsUrl: 's3://bucket/prefix',
      s3Endpoint: `http://127.0.0.1:${port}`,
      s3Region: 'us-east-1',
      s3AccessKeyId: 'key',
      s3SecretAccessKey: 'secret',
      s3PathStyle: true,
    },
    { warn: (fields: unknown) => told.resolve(fields) },
  );
  expect(await told.promise).toMatchObject({
    tried: `s3://bucket/prefix at http://127.0.0.1:${port}`,
  });
});
