import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contentHashOf, InvalidObjectKey, objectKey, parseObjectKey } from './object-keys.ts';

const sha256 = 'a'.repeat(64);

describe('object keys', () => {
  test('follow the specification', () => {
    expect(objectKey.scriptBlob('s1', sha256)).toBe(`scripts/s1/blobs/${sha256}`);
    expect(objectKey.runBlob('r1', sha256)).toBe(`runs/r1/blobs/${sha256}`);
    expect(objectKey.runArtifact('r1', 'out/a.csv')).toBe('runs/r1/artifacts/out/a.csv');
    expect(objectKey.backup('b1', 'backup.tar')).toBe('backups/b1/backup.tar');
    expect(objectKey.template('etl-job', 'main.py')).toBe('templates/etl-job/main.py');
    expect(objectKey.system('logo.svg')).toBe('system/logo.svg');
  });

  test.each([
    '',
    'system',
    'system/',
    '/system/a',
    'system//a',
    'system/./a',
    'system/../runs/a',
    'other/a',
    'system/a\\b',
    'system/a\u0000b',
    'system/a\nb',
    'system/\ud800',
    `system/${'a'.repeat(256)}`,
    `system/${'abc/'.repeat(255)}`,
  ])('cannot be %j', (text) => {
    expect(parseObjectKey(text)).toBeUndefined();
  });

  test('may have at most 1024 bytes', () => {
    const parts = `system/${'abc/'.repeat(253)}`;
    expect(parseObjectKey(parts + 'x'.repeat(1024 - parts.length))).toBeDefined();
    expect(parseObjectKey(parts + 'x'.repeat(1025 - parts.length))).toBeUndefined();
    expect(parseObjectKey(`system/${'é'.repeat(127)}`)).toBeDefined();
    expect(parseObjectKey(`system/${'é'.repeat(128)}`)).toBeUndefined();
  });

  test('cannot escape their folder through an ID that contains a separator', () => {
    expect(() => objectKey.scriptBlob('s1/../s2', sha256)).toThrow(InvalidObjectKey);
    expect(() => objectKey.runArtifact('r1/blobs', 'x')).toThrow(InvalidObjectKey);
    expect(() => objectKey.runArtifact('..', 'x')).toThrow(InvalidObjectKey);
    expect(() => objectKey.scriptBlob('s1', 'ABC')).toThrow(InvalidObjectKey);
  });

  test('for artifacts stay in the folder of their run, whatever the path', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (path) => {
        try {
          const key = objectKey.runArtifact('r1', path);
          const { pathname } = new URL(
            `file:///${key.split('/').map(encodeURIComponent).join('/')}`,
          );
          expect(pathname.startsWith('/runs/r1/artifacts/')).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidObjectKey);
        }
      }),
    );
  });
});

describe('the content hash of a key', () => {
  test('is the last segment of a blob key', () => {
    expect(contentHashOf(objectKey.scriptBlob('s1', sha256))).toBe(sha256);
    expect(contentHashOf(objectKey.runBlob('r1', sha256))).toBe(sha256);
  });

  test('is undefined for keys that only resemble blob keys', () => {
    expect(contentHashOf(objectKey.runArtifact('r1', `blobs/${sha256}`))).toBeUndefined();
    expect(contentHashOf(objectKey.backup('b1', `blobs/${sha256}`))).toBeUndefined();
    expect(contentHashOf(objectKey.system('logo.svg'))).toBeUndefined();
  });
});
