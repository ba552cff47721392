import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromBufferPromise } from 'yauzl';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { craftedZip, type CraftedEntry } from '../http/archives/testing/zip.ts';
import { deeds, groups, script, someone } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { Answer, TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
let temporary: string;
beforeAll(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
  temporary = await mkdtemp(join(tmpdir(), 'orch-archives-'));
  // Uses a separate folder for uploads, to detect leftovers.
  vi.stubEnv('TMPDIR', temporary);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await platform.close();
  await rm(temporary, { recursive: true });
});

const main: CraftedEntry = { name: 'main.py', content: Buffer.from('print("hi")\n') };

function send(archive: Uint8Array, query = '', headers: Record<string, string> = {}) {
  const type = { 'Content-Type': 'application/zip' };
  const options = { headers: { ...type, ...headers } };
  return developer.send('POST', `/api/v1/scripts/import${query}`, archive, options);
}

async function filesOf({ json }: Answer): Promise<readonly string[]> {
  const { items } = (await developer.get(`/api/v1/scripts/${json.id}/files`)).json as {
    items: { path: string }[];
  };
  return items.map((one) => one.path);
}

async function exported(id: string): Promise<Buffer> {
  const response = await fetch(`${platform.origin}/api/v1/scripts/${id}/export`, {
    headers: { Authorization: `Bearer ${developer.token}` },
  });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

describe('a script', () => {
  test('is exported with its files, identically each time', async () => {
    const { id } = await script(developer, { name: 'a/b "ä"' });
    await developer.putBytes(`/api/v1/scripts/${id}/files/lib/%C3%A4.txt`, 'umlaut');
    const first = await exported(id);
    expect((await exported(id)).equals(first)).toBe(true);
    const names: string[] = [];
    for await (const entry of (await fromBufferPromise(first)).eachEntry()) {
      names.push(entry.fileName);
    }
    expect(names).toEqual(['lib/ä.txt', 'main.py']);
    const answer = await developer.get(`/api/v1/scripts/${id}/export`);
    expect(answer.headers.get('content-disposition')).toContain(
      `filename*=UTF-8''a_b%20_%C3%A4_.zip`,
    );
    const headers = { 'If-None-Match': answer.headers.get('etag') ?? '' };
    expect((await developer.get(`/api/v1/scripts/${id}/export`, { headers })).status).toBe(304);
  });

  test('is identical after an export and import', async () => {
    const { id } = await script(developer, { template: 'etl-job' });
    const made = await send(await exported(id), '?name=Again');
    expect([made.status, made.json.name, made.json.version]).toEqual([201, 'Again', 1]);
    expect(made.headers.get('location')).toBe(`/api/v1/scripts/${made.json.id}`);
    expect(await filesOf(made)).toEqual(['README.md', 'main.py', 'orders.csv']);
    const csv = `/api/v1/scripts/${made.json.id}/files/orders.csv`;
    const original = await developer.get(`/api/v1/scripts/${id}/files/orders.csv`);
    expect((await developer.get(csv)).text).toBe(original.text);
  });
});

describe('an archive', () => {
  test('sent as a form gives the script the name of the file', async () => {
    const form = new FormData();
    form.set('note', 'skipped');
    form.set('file', new Blob([craftedZip([main])]), 'My bot.zip');
    const encoded = new Response(form);
    const headers = { 'Content-Type': encoded.headers.get('content-type') ?? '' };
    const bytes = Buffer.from(await encoded.arrayBuffer());
    const made = await send(bytes, '', headers);
    expect([made.status, made.json.name]).toEqual([201, 'My bot']);
    const cut = await send(bytes.subarray(0, bytes.length - 60), '', headers);
    expect([cut.status, cut.json.code]).toEqual([422, 'validation_failed']);
    const none = await send(bytes, '', { 'Content-Type': 'multipart/form-data' });
    expect(none.status).toBe(422);
  });

  test('with a single folder gives the script the name of that folder', async () => {
    const folder = { name: 'proj/', content: Buffer.alloc(0), mode: 0o040755 };
    const inside = ['proj/main.py', 'proj/lib/a.py', '__MACOSX/proj/._main.py', 'proj/.DS_Store'];
    const made = await send(craftedZip([folder, ...inside.map((name) => ({ name }))]));
    expect([made.status, made.json.name]).toEqual([201, 'proj']);
    expect(await filesOf(made)).toEqual(['lib/a.py', 'main.py']);
  });

  test('keeps its folder if the entry point in the request names that folder', async () => {
    const archive = craftedZip([{ name: 'app/run.py' }, { name: 'app/Run.py' }]);
    expect((await send(archive)).status).toBe(422);
    const made = await send(archive, '?entrypoint=app/run.py');
    expect([made.status, made.json.entrypoint]).toEqual([201, 'app/run.py']);
    expect(await filesOf(made)).toEqual(['app/Run.py', 'app/run.py']);
  });

  test('creates only one script if an idempotency key is repeated', async () => {
    const key = { 'Idempotency-Key': 'import-once' };
    const first = await send(craftedZip([main]), '', key);
    expect((await send(craftedZip([main]), '', key)).text).toBe(first.text);
    const other = await send(craftedZip([main, { name: 'b' }]), '', key);
    expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused']);
  });
});

const zeros = (mebibytes: number) => Buffer.alloc(mebibytes * 1024 * 1024);
const noise = Buffer.from(Array.from({ length: 80_000 }, (_, index) => (index * 7919) % 251));

describe('an invalid archive', () => {
  test.each<[string, number, string, readonly CraftedEntry[]]>([
    ['has a path outside its folder', 422, 'invalid_path', [main, { name: '../x' }]],
    [
      'has a path that leaves its folder through a subfolder',
      422,
      'invalid_path',
      [main, { name: 'a/../../x/' }],
    ],
    ['has an absolute path', 422, 'invalid_path', [main, { name: '/etc/passwd' }]],
    ['has a backslash', 422, 'invalid_path', [main, { name: '..\\x' }]],
    ['has a NUL', 422, 'invalid_path', [main, { name: 'a\0.py' }]],
    ['writes into data', 422, 'invalid_path', [main, { name: 'data/x' }]],
    ['has a duplicate name', 422, 'invalid_path', [main, main]],
    ['has a file in place of a folder', 422, 'invalid_path', [main, { name: 'main.py/x' }]],
    ['has a name in a legacy encoding', 422, 'invalid_path', [main, { name: Buffer.from([0x84]) }]],
    ['has a link', 422, 'validation_failed', [main, { name: 'l', mode: 0o120777 }]],
    ['has a device', 422, 'validation_failed', [main, { name: 'd', mode: 0o020666 }]],
    ['has an encrypted file', 422, 'validation_failed', [{ ...main, encrypted: true }]],
    ['has an unknown compression', 422, 'validation_failed', [{ ...main, method: 12 }]],
    ['has an entry larger than declared', 422, 'validation_failed', [{ ...main, claimedBytes: 3 }]],
    [
      'has an entry smaller than declared',
      422,
      'validation_failed',
      [{ ...main, claimedBytes: 99 }],
    ],
    ['is empty', 422, 'validation_failed', []],
    ['has a file over 10 MiB', 413, 'payload_too_large', [main, { name: 'x', content: zeros(11) }]],
    ['is a zip bomb', 413, 'payload_too_large', [main, { name: 'x', content: zeros(9) }]],
    [
      'has too many entries',
      413,
      'payload_too_large',
      Array.from({ length: 10_001 }, (_, index) => ({ name: `${index}/`, mode: 0o040755 })),
    ],
    [
      'is too large',
      413,
      'payload_too_large',
      Array.from({ length: 11 }, (_, index) => ({
        name: `${index}`,
        content: Buffer.concat([noise, zeros(10).subarray(noise.length)]),
      })),
    ],
  ])('creates no script when it %s', async (_name, status, code, entries) => {
    await leavesNothing(craftedZip(entries), status, code);
  });

  test('creates no script when truncated or not an archive', async () => {
    const archive = craftedZip([main, { name: 'noise', content: noise }]);
    for (const length of [0, 4, 40, archive.length / 2, archive.length - 30, archive.length - 1]) {
      await leavesNothing(archive.subarray(0, length), 422, 'validation_failed');
    }
    const bytes = Buffer.from(archive);
    bytes.writeUInt8(bytes.readUInt8(42) ^ 0xff, 42);
    await leavesNothing(bytes, 422, 'validation_failed');
  });

  test('of another content type is refused', async () => {
    const answer = await send(craftedZip([main]), '', { 'Content-Type': 'application/gzip' });
    expect([answer.status, answer.json.code]).toEqual([415, 'unsupported_media_type']);
  });

  async function leavesNothing(archive: Uint8Array, status: number, code: string): Promise<void> {
    const before = await deeds(platform);
    const answer = await send(archive);
    expect([answer.status, answer.json.code], answer.text).toEqual([status, code]);
    expect(await deeds(platform)).toBe(before);
    expect(await readdir(temporary)).toEqual([]);
  }
});
