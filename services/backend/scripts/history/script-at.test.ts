import { objectKey } from '#domain/ports/object-keys.ts';
import { mustParse, parseScriptId } from '#domain/kernel/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groups, script, someone } from '../../testing/people.ts';
import { startTestBackend, type TestBackend } from '../../testing/test-backend.ts';
import type { Answer, TestClient } from '../../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
beforeAll(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
});
afterAll(() => platform.close());

/** The visible state of a script, and the position of its last event. */
interface Seen {
  readonly position: number;
  readonly script: Answer;
  readonly files: Answer;
  readonly main: Answer;
}

/** Applies changes to a script one by one. Reads the script after each change. */
async function lived(
  path: string,
  deeds: readonly (() => Promise<Answer>)[],
): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  for (const deed of deeds) {
    const position = Number((await deed()).headers.get('orch-position'));
    seen.push({
      position,
      script: await developer.get(path),
      files: await developer.get(`${path}/files`),
      main: await developer.get(`${path}/files/main.py`),
    });
  }
  return seen;
}

const shown = ({ status, text, headers }: Answer) => ({ status, text, etag: headers.get('etag') });

async function looksTheSame(path: string, seen: readonly Seen[]): Promise<void> {
  for (const { position, script: now, files, main } of seen) {
    const at = `at=${position}`;
    expect(shown(await developer.get(`${path}?${at}`))).toEqual(shown(now));
    expect(shown(await developer.get(`${path}/files?${at}`))).toEqual(shown(files));
    expect(shown(await developer.get(`${path}/files/main.py?${at}`))).toEqual(shown(main));
  }
}

/** Creates a script with each kind of change. */
async function aPast() {
  const made = await developer.post('/api/v1/scripts', { name: 'First', tags: ['a'] });
  const path = `/api/v1/scripts/${made.json.id}`;
  const seen = await lived(path, [
    () => Promise.resolve(made),
    () => developer.putBytes(`${path}/files/lib/%C3%A9.py`, 'one'),
    () => developer.patch(path, { name: 'Second', limits: { cpu_seconds: null } }),
    () => developer.putBytes(`${path}/files/main.py`, 'print(2)'),
    () => developer.post(`${path}/files/lib/%C3%A9.py/move`, { to: 'z.py' }),
    () => developer.post(`${path}/disable`),
    () => developer.delete(`${path}/files/z.py`),
  ]);
  return { path, seen };
}

describe('a script at a point in time', () => {
  let path: string;
  let seen: readonly Seen[];
  let deletedAt: number;
  beforeAll(async () => {
    ({ path, seen } = await aPast());
    deletedAt = Number((await developer.delete(path)).headers.get('orch-position'));
  });

  test('is shown as of a position, even if it was deleted later', () => looksTheSame(path, seen));

  test('is shown as of a time', async () => {
    const [first] = seen;
    const last = seen.at(-1);
    const at = (answer: Answer | undefined, addedMs = 0) =>
      new Date(Date.parse(answer?.json.updated_at as string) + addedMs).toISOString();
    expect((await developer.get(`${path}?at=${at(first?.script, -1)}`)).status).toBe(404);
    expect((await developer.get(`${path}?at=${at(last?.script)}`)).text).toBe(last?.script.text);
  });

  test('is not found before its creation or after its deletion', async () => {
    const position = seen[0]?.position ?? 0;
    for (const at of [0, position - 1, deletedAt]) {
      for (const read of [path, `${path}/files`, `${path}/files/main.py`]) {
        expect((await developer.get(`${read}?at=${at}`)).status).toBe(404);
      }
    }
    const missing = await developer.get(`${path}/files/z.py?at=${position}`);
    expect([missing.status, missing.json.detail]).toEqual([
      404,
      'The file did not exist at that time.',
    ]);
  });

  test('has the files as of that time, page by page', async () => {
    const { position = 0 } = seen[1] ?? {};
    const first = await developer.get(`${path}/files?limit=1&at=${position}`);
    expect(first.json.items.map((one: { path: string }) => one.path)).toEqual(['lib/é.py']);
    const next = /<(.+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const second = await developer.get(next);
    expect(second.json).toMatchObject({ items: [{ path: 'main.py' }], next_cursor: null });
    const foreign = await developer.get(`${path}/files?cursor=${first.json.next_cursor}`);
    expect(foreign.json.code).toBe('invalid_cursor');
  });

  test('returns 304 if unchanged', async () => {
    const { position = 0, script: then } = seen[2] ?? {};
    const headers = { 'If-None-Match': then?.headers.get('etag') ?? '' };
    expect((await developer.get(`${path}?at=${position}`, { headers })).status).toBe(304);
  });

  test('reports file contents that are no longer retained', async () => {
    const [first] = seen;
    const sha256 = String(first?.files.json.items[0].sha256);
    const scriptId = mustParse(parseScriptId, path.slice(path.lastIndexOf('/') + 1));
    const key = objectKey.scriptBlob(scriptId, sha256);
    const content = (await platform.services.objects.get(key)) ?? Buffer.from('');
    await platform.services.objects.delete(key);
    const answer = await developer.get(`${path}/files/main.py?at=${first?.position}`);
    expect([answer.status, answer.json.code]).toEqual([410, 'content_removed']);
    await platform.services.objects.put(key, content);
  });
});

describe('a reader', () => {
  test('needs access to the current group of the script, not to the group at that time', async () => {
    const other = await someone(platform, { role: 'developer', groupIds: [groups.bots] });
    const created = await platform.admin.post('/api/v1/scripts', { name: 'x' });
    const path = `/api/v1/scripts/${created.json.id}`;
    const at = `?at=${created.headers.get('orch-position')}`;
    expect((await other.get(path + at)).json.detail).toBe(
      'The resource does not exist, or you do not have access to it.',
    );
    await platform.admin.patch(path, { group_id: groups.bots });
    expect((await other.get(path + at)).json.group_id).toBe(groups.custom);
    expect((await developer.get(path + at)).status).toBe(404);
  });

  test('with the viewer role cannot read files', async () => {
    const viewer = await someone(platform, { role: 'viewer', groupIds: [groups.custom] });
    const { id } = await script(developer);
    expect((await viewer.get(`/api/v1/scripts/${id}/files?at=1`)).status).toBe(403);
  });
});

describe('an invalid point in time', () => {
  test.each([
    '',
    'yesterday',
    '-1',
    '1.5',
    '2026-01-01',
    '2026-13-01T00:00:00Z',
    '2026-01-01T00:00:00',
    '9'.repeat(16),
    '999999999999',
    '2999-01-01T00:00:00Z',
  ])('is refused: "%s"', async (at) => {
    const { id } = await script(developer);
    for (const read of ['', '/files', '/files/main.py']) {
      const answer = await developer.get(`/api/v1/scripts/${id}${read}?at=${at}`);
      expect([answer.status, answer.json.code]).toEqual([400, 'invalid_parameter']);
    }
  });
});

describe('while all projection tables are empty', () => {
  test('a script is shown as of a point in time', async () => {
    const { path, seen } = await aPast();
    // Keeps users and sessions, because the caller must be authenticated.
    for (const table of ['scripts', 'script_files', 'groups', 'runs', 'run_queue']) {
      await platform.pool.query(`DELETE FROM ${table}`);
    }
    expect((await developer.get(path)).status).toBe(404);
    await looksTheSame(path, seen);
  });
});
