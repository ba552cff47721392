import { objectKey } from '#domain/ports/object-keys.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groups, nowhere, run, script, someone } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let viewer: TestClient;
beforeAll(async () => {
  platform = await startTestBackend();
  viewer = await someone(platform, { role: 'viewer', groupIds: [groups.custom] });
});
afterAll(() => platform.close());

interface Listed {
  readonly items: readonly { path: string; size_bytes: number; etag: string; updated_at: string }[];
  readonly next_cursor: string | null;
}

async function runWith(contents: Readonly<Record<string, string>>): Promise<string> {
  const runId = await run(platform.admin, (await script(platform.admin)).id);
  for (const [path, content] of Object.entries(contents)) {
    await platform.services.objects.put(objectKey.runArtifact(runId, path), Buffer.from(content));
  }
  return runId;
}

const list = async (runId: string, query = ''): Promise<Listed> =>
  (await viewer.get(`/api/v1/runs/${runId}/artifacts${query}`)).json as Listed;
const download = (runId: string, path: string, headers = {}) =>
  viewer.get(`/api/v1/runs/${runId}/artifacts/${path}`, { headers });

describe('the artifacts of a run', () => {
  test('are listed by path, page by page', async () => {
    const long = `${'d'.repeat(250)}/${'e'.repeat(250)}/${'f'.repeat(250)}`;
    const runId = await runWith({ 'b.csv': 'a,b', 'a/1.txt': '1', [long]: '', 'é x.txt': 'é' });
    const { items, next_cursor: end } = await list(runId);
    expect(items.map((one) => one.path)).toEqual(['a/1.txt', 'b.csv', long, 'é x.txt']);
    expect(items.map((one) => one.size_bytes)).toEqual([1, 3, 0, 2]);
    expect(end).toBeNull();
    const paths: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await list(runId, `?limit=1${cursor && `&cursor=${cursor}`}`);
      paths.push(...page.items.map((one) => one.path));
      cursor = page.next_cursor;
    }
    expect(paths).toEqual(items.map((one) => one.path));
    expect((await list(await runWith({}))).items).toEqual([]);
  });

  test('are downloaded as attachments that browsers do not display', async () => {
    const runId = await runWith({ 'a/page é.html': '<script>' });
    const answer = await download(runId, 'a/page%20%C3%A9.html');
    expect([answer.status, answer.text]).toEqual([200, '<script>']);
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="page _.html"; filename*=UTF-8''page%20%C3%A9.html`,
    );
    const { items } = await list(runId);
    expect(answer.headers.get('etag')).toBe(`"${items[0]?.etag}"`);
  });

  test('return 304 as long as they are unchanged', async () => {
    const runId = await runWith({ 'a.txt': 'one' });
    const tag = (await download(runId, 'a.txt')).headers.get('etag') ?? '';
    expect((await download(runId, 'a.txt', { 'If-None-Match': tag })).status).toBe(304);
    const key = objectKey.runArtifact(runId, 'a.txt');
    await platform.services.objects.put(key, Buffer.from('two'));
    const changed = await download(runId, 'a.txt', { 'If-None-Match': tag });
    expect([changed.status, changed.text]).toEqual([200, 'two']);
  });

  test('do not exist under other paths', async () => {
    const runId = await runWith({ 'a.txt': 'one' });
    const other = await runWith({ 'secret.txt': 'two' });
    const blob = objectKey.runBlob(runId, 'a'.repeat(64)).split('/').at(-1);
    for (const path of [
      'b.txt',
      'a.txt/b',
      `..%2Fblobs%2F${blob}`,
      `..%2F..%2F${other}%2Fartifacts%2Fsecret.txt`,
      '%2Fetc/passwd',
      'a%00.txt',
      'a%5C..',
      'x'.repeat(300),
      `${'d/'.repeat(600)}x`,
    ]) {
      expect((await download(runId, path)).status, path).toBe(404);
    }
    expect((await viewer.get(`/api/v1/runs/${nowhere}/artifacts`)).status).toBe(404);
    const foreign = await script(platform.admin, { group_id: groups.bots });
    const hidden = await run(platform.admin, foreign.id);
    expect((await viewer.get(`/api/v1/runs/${hidden}/artifacts`)).status).toBe(404);
  });

  test('cannot be listed with a cursor of another run', async () => {
    const cursor = (await list(await runWith({ a: '', b: '' }), '?limit=1')).next_cursor;
    const other = await runWith({ a: '' });
    const answer = await viewer.get(`/api/v1/runs/${other}/artifacts?cursor=${cursor}`);
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid_cursor']);
  });
});
