/** Uploaded backups are accepted completely or not at all. */
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { connect } from 'node:net';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { downloadOf, storedBackup, storedBackups } from '#infra/backup/files.ts';
import { untilTrue } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { downloadedBackup } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

const path = '/api/v1/backups';

let platform: TestBackend;
let plain: Buffer;
let encrypted: Buffer;
let foreign: Buffer;
beforeAll(async () => {
  platform = await startTestBackend();
  plain = await downloadedBackup(platform);
  encrypted = await downloadedBackup(platform, randomBytes(32));
  foreign = await downloadedBackup(platform, undefined, randomBytes(32));
});
afterAll(() => platform.close());

const upload = (bytes: Uint8Array) =>
  platform.admin.send('POST', `${path}/upload`, bytes, {
    headers: { 'Content-Type': 'application/x-tar' },
  });
const listed = async () => (await platform.admin.get(path)).json.items as { id: string }[];

/** Replaces text in the file with text of the same length, so that nothing else changes. */
function replaced(bytes: Buffer, what: string, by: string): Buffer {
  const at = bytes.indexOf(what);
  if (at < 0 || what.length !== by.length) throw new Error(`there is no ${what}`);
  const copy = Buffer.from(bytes);
  copy.write(by, at);
  return copy;
}

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

describe('an incomplete or unsuitable backup file', () => {
  const middle = (bytes: Buffer) => Math.floor(bytes.length / 2);

  test.each([
    [
      'has a flipped bit',
      () => flipped(plain, middle(plain)),
      /is damaged: (its (content|header) was changed|it is not JSON)/,
    ],
    [
      'is encrypted and has a flipped bit',
      () => flipped(encrypted, middle(encrypted)),
      /backup.tar is damaged/,
    ],
    ['has a flipped bit in its description', () => flipped(plain, 520), /backup.json is damaged/],
    ['has no end', () => plain.subarray(0, plain.length - 2000), /truncated/],
    ['was truncated in the middle', () => plain.subarray(0, middle(plain)), /truncated/],
    ['is followed by other data', () => Buffer.concat([plain, Buffer.from('more')]), /added/],
    [
      'declares another number of events',
      () => said('"events": ', '9'),
      /backup.json is damaged: its seal does not match/,
    ],
    [
      'is not a backup',
      () => Buffer.from('PK'.repeat(1000)),
      /backup.json is damaged: its header is corrupt/,
    ],
    ['is empty', () => Buffer.alloc(0), /truncated/],
  ])('is refused and not stored when it %s', async (_, file, reason) => {
    const refused = await upload(file());
    expect([refused.status, refused.json.code]).toEqual([422, 'backup_damaged']);
    expect(refused.json.detail).toMatch(reason);
    expect(refused.json.detail).toMatch(/The upload was discarded/);
    expect(await listed()).toEqual([]);
    expect(await storedBackups(platform.services.objects)).toEqual([]);
  });

  /** Returns the backup with a different digit in a field of its manifest. */
  function said(name: string, digit: string): Buffer {
    const at = plain.indexOf(name) + name.length;
    const copy = Buffer.from(plain);
    copy.write(digit, at);
    return copy;
  }

  test.each([
    ['version of the service', () => replaced(plain, '"version": "0.1.13"', '"version": "0.9.13"')],
    ['backup format', () => replaced(plain, '"format": 2', '"format": 3')],
  ])('from a newer %s is refused with the reason', async (_, file) => {
    const refused = await upload(file());
    expect([refused.status, refused.json.code]).toEqual([409, 'backup_newer']);
    expect(refused.json.detail).toMatch(/Update this installation first/);
    expect(await storedBackups(platform.services.objects)).toEqual([]);
  });

  test('whose declared length exceeds the limit is refused before it is read', async () => {
    const asked = request(`${platform.origin}${path}/upload`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${platform.admin.token}`,
        'Content-Type': 'application/x-tar',
        'Content-Length': String(65 * 1024 ** 3),
      },
    });
    asked.on('error', () => undefined);
    // The server discards up to this many bytes, so the client still receives the response.
    asked.write(Buffer.alloc(33 * 1024 * 1024));
    const [answer] = (await once(asked, 'response')) as [{ statusCode: number }];
    expect(answer.statusCode).toBe(413);
    asked.destroy();
  });

  test('that is too long to be discarded first is refused, although the client sends everything before it reads', async () => {
    const client = connect({ host: '127.0.0.1', port: Number(new URL(platform.origin).port) });
    const mib = 96;
    client.write(
      `POST ${path}/upload HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-tar\r\n` +
        `Content-Length: ${mib * 1024 ** 2}\r\n\r\n`,
    );
    for (let sent = 0; sent < mib; sent += 1) {
      if (!client.write(Buffer.alloc(1024 ** 2))) await once(client, 'drain');
    }
    const [answer] = (await once(client, 'data')) as [Buffer];
    client.destroy();
    expect(answer.toString()).toMatch(/^HTTP\/1.1 401 /);
  });

  test('is discarded when the client disconnects, and the next upload succeeds', async () => {
    const asked = request(`${platform.origin}${path}/upload`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${platform.admin.token}`,
        'Content-Type': 'application/x-tar',
        'Content-Length': String(plain.length),
      },
    });
    asked.on('error', () => undefined);
    asked.write(plain.subarray(0, middle(plain)));
    const busy = async () => (await upload(plain.subarray(0, 600))).json.code as string;
    await untilTrue('it is being uploaded', async () => (await busy()) === 'backup_in_use');
    asked.destroy();
    await untilTrue('it is given up', async () => (await busy()) === 'backup_damaged');
    expect(await storedBackups(platform.services.objects)).toEqual([]);
  });
});

describe('a backup of another installation', () => {
  test.each([
    ['plain', () => plain, false],
    ['encrypted', () => encrypted, true],
    ['sealed with another master key', () => foreign, false],
  ] as const)(
    'is listed once after an upload, and its download is unchanged: %s',
    async (...given) => {
      const [, file, isEncrypted] = given;
      const taken = await upload(file());
      expect(taken.status, taken.text).toBe(201);
      const { id } = taken.json;
      expect(taken.json).toMatchObject({
        status: 'complete',
        encrypted: isEncrypted,
        created_at: '2026-01-02T03:04:05.678Z',
        verifying: true,
      });
      expect((await listed()).map((one) => one.id)).toContain(id);
      const again = await upload(file());
      expect([again.status, again.json.code]).toEqual([409, 'already_exists']);
      const source = await storedBackup(platform.services.objects, id);
      if (source === undefined) throw new Error('it is not stored');
      const { chunks } = await downloadOf(source);
      expect((await buffer(Readable.from(chunks))).equals(file())).toBe(true);
      const asked = await platform.admin.post(`${path}/${id}/restore`, undefined);
      expect(asked.status).toBe(202);
    },
  );

  test('can be uploaded again after deletion', async () => {
    const file = await downloadedBackup(platform);
    const { id } = (await upload(file)).json;
    expect((await platform.admin.delete(`${path}/${id}`)).status).toBe(204);
    expect((await upload(file)).status).toBe(201);
    expect((await platform.admin.get(`${path}/${id}`)).json.status).toBe('complete');
  });
});
