import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groups, script, someone } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import { statusesOf, type TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
beforeAll(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
});
afterAll(() => platform.close());

const path = (id: string, name = '') => `/api/v1/scripts/${id}/files${name && `/${name}`}`;

async function blobsOf(id: string): Promise<number> {
  let count = 0;
  for await (const _ of platform.services.objects.list(`scripts/${id}/`)) count += 1;
  return count;
}

describe('the files of a script', () => {
  test('are returned byte for byte', async () => {
    const { id } = await script(developer);
    const bytes = randomBytes(300_000);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const saved = await developer.putBytes(path(id, 'lib/data%20%C3%A4.bin'), bytes);
    expect(saved.json).toMatchObject({ path: 'lib/data ä.bin', size_bytes: 300_000, sha256 });
    expect(saved.json.script_version).toBe(2);
    expect(saved.headers.get('etag')).toBe(`"${sha256}"`);
    const response = await fetch(`${platform.origin}${path(id, 'lib/data%20%C3%A4.bin')}`, {
      headers: { Authorization: `Bearer ${developer.token}` },
    });
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="data _.bin"; filename*=UTF-8''data%20%C3%A4.bin`,
    );
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    const leftOvers = (await readdir(tmpdir())).filter((name) => name.startsWith('orch-upload-'));
    expect(leftOvers).toEqual([]);
  });

  test('can be saved as JSON with NUL bytes, or as base64', async () => {
    const { id } = await script(developer);
    await developer.put(path(id, 'a.txt'), { content: 'a\0ä' });
    expect((await developer.get(path(id, 'a.txt'))).text).toBe('a\0ä');
    await developer.put(path(id, 'b.txt'), { content: 'aGk=', encoding: 'base64' });
    expect((await developer.get(path(id, 'b.txt'))).text).toBe('hi');
    const wrong = await developer.put(path(id, 'c'), { content: '*', encoding: 'base64' });
    expect([wrong.status, wrong.json.errors[0].pointer]).toEqual([422, '/content']);
  });

  test('are listed by path, page by page', async () => {
    const { id } = await script(developer);
    for (const name of ['z.py', 'a.py', 'lib/b.py']) await developer.putBytes(path(id, name), 'x');
    const first = await developer.get(`${path(id)}?limit=3`);
    const names = (page: { json: { items: { path: string }[] } }) =>
      page.json.items.map((one) => one.path);
    expect(names(first)).toEqual(['a.py', 'lib/b.py', 'main.py']);
    expect(first.headers.get('etag')).toBe('"4"');
    const rest = await developer.get(`${path(id)}?limit=3&cursor=${first.json.next_cursor}`);
    expect(names(rest)).toEqual(['z.py']);
    expect(rest.json.next_cursor).toBeNull();
  });

  test('create no new version when saved unchanged', async () => {
    const { id } = await script(developer);
    await developer.putBytes(path(id, 'a'), 'same');
    const again = await developer.putBytes(path(id, 'a'), 'same');
    expect([again.status, again.json.script_version]).toEqual([200, 2]);
  });

  test('keep only the first of two conflicting saves', async () => {
    const { id } = await script(developer);
    const read = await developer.get(path(id, 'main.py'));
    const headers = { 'If-Match': read.headers.get('etag') ?? '' };
    const answers = await Promise.all(
      ['one', 'two'].map((text) => developer.putBytes(path(id, 'main.py'), text, { headers })),
    );
    expect(statusesOf(answers)).toEqual([200, 412]);
    const byVersion = { headers: { 'If-Match': '"2"' } };
    expect((await developer.putBytes(path(id, 'main.py'), 'three', byVersion)).status).toBe(200);
    expect((await developer.putBytes(path(id, 'main.py'), 'four', byVersion)).status).toBe(412);
  });

  test('return 304 if unchanged', async () => {
    const { id } = await script(developer);
    const { headers } = await developer.get(path(id, 'main.py'));
    const etag = headers.get('etag') ?? '';
    const again = await developer.get(path(id, 'main.py'), { headers: { 'If-None-Match': etag } });
    expect(again.status).toBe(304);
  });

  test('may be empty', async () => {
    const { id } = await script(developer);
    expect((await developer.putBytes(path(id, 'empty'), '')).json.size_bytes).toBe(0);
  });
});

describe('a refused save', () => {
  test.each([
    ['..%2f..%2fetc%2fpasswd', 'invalid_path'],
    ['%2e%2e%2fsecret', 'invalid_path'],
    ['lib%2F..%2Fx', 'invalid_path'],
    ['%2Fetc%2Fpasswd', 'invalid_path'],
    ['a%5Cb', 'invalid_path'],
    ['a%00b', 'invalid_path'],
    ['a//b', 'invalid_path'],
    ['data/x', 'invalid_path'],
    ['main.py/x', 'invalid_path'],
    [`${'ä'.repeat(128)}`, 'invalid_path'],
  ])('stores nothing for the path %s', async (name, code) => {
    const { id } = await script(developer);
    const answer = await developer.putBytes(path(id, name), 'x');
    expect([answer.status, answer.json.code]).toEqual([422, code]);
    expect(await blobsOf(id)).toBe(1);
  });

  test('reports an invalid percent encoding', async () => {
    const { id } = await script(developer);
    const answer = await developer.putBytes(path(id, 'a%zz'), 'x');
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid_parameter']);
  });

  test('stores nothing if the file exceeds the limit', async () => {
    const { id } = await script(developer);
    const bytes = new Uint8Array(10 * 1024 * 1024 + 1);
    const declared = await developer.putBytes(path(id, 'big'), bytes);
    expect([declared.status, declared.json.code]).toEqual([413, 'payload_too_large']);
    const streamed = await fetch(`${platform.origin}${path(id, 'big')}`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${developer.token}` },
      body: new Blob([bytes]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect(streamed.status).toBe(413);
    expect(await blobsOf(id)).toBe(1);
    expect((await developer.putBytes(path(id, 'big'), bytes.subarray(1))).status).toBe(200);
  });

  test('stores nothing if the quota would be exceeded', async () => {
    const { id } = await script(developer, { storage_quota_bytes: 2000 });
    const answer = await developer.putBytes(path(id, 'big'), 'x'.repeat(2000));
    expect([answer.status, answer.json.code]).toEqual([413, 'storage_quota_exceeded']);
    expect(await blobsOf(id)).toBe(1);
  });

  test('stores nothing in a script of another group', async () => {
    const { id } = await script(platform.admin, { group_id: groups.bots });
    expect((await developer.putBytes(path(id, 'a'), 'x')).status).toBe(404);
    expect(await blobsOf(id)).toBe(1);
  });
});
