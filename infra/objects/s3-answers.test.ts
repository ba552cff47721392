/** Tests responses that a real S3 server cannot be made to return. A plain HTTP server returns them instead. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { objectKey } from '#domain/ports/object-keys.ts';
import {
  ObjectConflict,
  ObjectStoreFull,
  ObjectStoreUnavailable,
  type ObjectStore,
} from '#domain/ports/objects.ts';
import { openS3Store } from './s3.ts';

const bytes = new TextEncoder().encode('hello');
const blob = objectKey.runBlob(
  'r1',
  '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
);

describe('the object store on S3', () => {
  let server: Server;
  let store: ObjectStore;
  /** The methods of the requests so far. */
  let asked: string[];
  let answer: (response: ServerResponse, request: IncomingMessage) => void;

  beforeEach(async () => {
    asked = [];
    server = createServer((request, response) => {
      asked.push(request.method ?? '');
      request.resume().on('end', () => answer(response, request));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    store = openS3Store({
      bucket: 'bucket',
      root: 'root/',
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      pathStyle: true,
    });
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const refusal = (status: number, code: string) => (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/xml' });
    response.end(`<Error><Code>${code}</Code><Message>no</Message></Error>`);
  };
  const listing = (encoding: string, ...keys: readonly string[]) => {
    const contents = keys.map((key) => `<Contents><Key>${key}</Key><Size>5</Size></Contents>`);
    const body = `<ListBucketResult>${encoding}<IsTruncated>false</IsTruncated>${contents.join('')}`;
    return (response: ServerResponse): void => {
      response.writeHead(200, { 'content-type': 'application/xml' });
      response.end(`${body}</ListBucketResult>`);
    };
  };
  const listed = async () =>
    (await Array.fromAsync(store.list('runs/'))).map((info) => String(info.key));

  test.each([
    [507, 'InsufficientStorage'],
    [507, 'Unknown'],
    [403, 'QuotaExceeded'],
  ])('reports a server that returns %i %s as full, without a retry', async (status, code) => {
    answer = refusal(status, code);
    await expect(store.put(blob, bytes)).rejects.toThrow(ObjectStoreFull);
    expect(asked).toEqual(['PUT']);
  });

  test.each([
    [403, 'AccessDenied', 1],
    [503, 'SlowDown', 3],
    [500, 'InternalError', 3],
  ])(
    'reports a server that returns %i %s as unavailable (after %i attempts)',
    async (status, code, times) => {
      answer = refusal(status, code);
      await expect(store.put(blob, bytes)).rejects.toThrow(ObjectStoreUnavailable);
      expect(asked).toHaveLength(times);
    },
  );

  test('decodes keys in a listing only if the server encoded them', async () => {
    const encoded = '<EncodingType>url</EncodingType>';
    answer = listing(encoded, 'root/runs/r/a%2Bb+c', 'root/runs/r/%C3%A4%25');
    expect(await listed()).toEqual(['runs/r/a+b c', 'runs/r/ä%']);
    answer = listing('', 'root/runs/r/a%2Bb+c');
    expect(await listed()).toEqual(['runs/r/a%2Bb+c']);
  });

  test('ignores objects in the bucket that it did not create', async () => {
    answer = listing('', 'root/runs/', 'root/runs/r/a', 'root/runs/r/b/');
    expect(await listed()).toEqual(['runs/r/a']);
  });

  test('refuses a listing whose keys are not in order', async () => {
    answer = listing('', 'root/runs/r/b', 'root/runs/r/a');
    await expect(listed()).rejects.toThrow(/out of order/);
  });

  test('detects a truncated body even if the server reports no error', async () => {
    answer = (response) => {
      // The response is chunked, so that only the content reveals the truncation.
      response.write('hel');
      response.end();
    };
    await expect(store.get(blob)).rejects.toThrow(blob);
  });

  test('refuses an object below another even if the server accepts it', async () => {
    const above = objectKey.runArtifact('r1', 'a');
    const below = objectKey.runArtifact('r1', 'a/b');
    answer = listing('', `root/${below}`);
    await expect(store.put(above, bytes)).rejects.toThrow(ObjectConflict);
    answer = listing(''); // every other request succeeds
    await expect(store.put(below, bytes)).rejects.toThrow(ObjectConflict);
    expect(asked).not.toContain('PUT');
  });

  test('retries a transient conflict', async () => {
    const conflict = refusal(409, 'ExistingObjectIsDirectory');
    answer = (response) => (asked.length < 3 ? conflict(response) : response.end());
    await store.put(blob, bytes);
    expect(asked).toHaveLength(3);
    answer = conflict;
    await expect(store.put(blob, bytes)).rejects.toThrow(ObjectConflict);
  });

  describe('a large write whose multipart upload no longer exists', () => {
    const large = new Uint8Array(9 * 1024 * 1024);
    const key = objectKey.runArtifact('r1', 'large');
    /** Responds to the steps of an upload, and reports `owner` as the object's writer. */
    const steps = (owner: (own: string) => string) => {
      let own = '';
      return (response: ServerResponse, request: IncomingMessage): void => {
        const url = request.url ?? '';
        if (request.method === 'GET') return listing('')(response);
        if (request.method === 'HEAD' && own !== '') {
          response.setHeader('x-amz-meta-upload', owner(own));
        } else if (request.method === 'POST' && url.includes('?uploads')) {
          own = String(request.headers['x-amz-meta-upload']);
          const body = '<UploadId>1</UploadId>';
          return void response.end(
            `<InitiateMultipartUploadResult>${body}</InitiateMultipartUploadResult>`,
          );
        } else if (request.method === 'POST') {
          return refusal(404, 'NoSuchUpload')(response);
        }
        response.end();
      };
    };

    test('succeeds if the stored object equals the uploaded one', async () => {
      answer = steps((own) => own);
      await store.put(key, large);
      expect(asked.filter((method) => method === 'PUT')).toHaveLength(2);
    });

    test('fails if the stored object is a different object', async () => {
      answer = steps(() => 'another');
      await expect(store.put(key, large)).rejects.toThrow(ObjectStoreUnavailable);
      expect(asked.at(-1)).toBe('DELETE');
    });
  });
});
