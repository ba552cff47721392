import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeTrail } from '#services/backend/testing/audit-trail.ts';
import { groups, script, someone } from '#services/backend/testing/people.ts';
import { startTestBackend, type TestBackend } from '#services/backend/testing/test-backend.ts';
import type { TestClient } from '#services/backend/testing/test-client.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const program = fileURLToPath(new URL('verify-audit.ts', import.meta.url));
/** Names with characters that have a special meaning in lines, CSV or spreadsheets. */
const names = ['=HYPERLINK("http://evil")', '+1', '@SUM', '-2', "'quoted", 'a, "b"'];

let platform: TestBackend;
let folder: string;
let head: { audit_seq: number; hash: string };
let exported: { readonly ndjson: string; readonly csv: string };
let files: { readonly key: string; readonly heads: string };

beforeAll(async () => {
  platform = await startTestBackend();
  folder = await mkdtemp(join(tmpdir(), 'orch-audit-'));
  const { admin } = platform;
  for (const name of names) await script(admin, { name });
  const { id } = await script(admin, { name: 'Watched', group_id: groups.bots });
  expect((await admin.get(`/api/v1/scripts/${id}/export`)).status).toBe(200);
  await writeTrail(platform);
  ({ head } = (await admin.get('/api/v1/audit/verify')).json);
  exported = {
    ndjson: await download(admin, 'format=ndjson'),
    csv: await download(admin, 'format=csv'),
  };
  files = {
    key: await file('key.pem', (await admin.get('/api/v1/audit/key')).text),
    heads: await file('heads.json', (await admin.get('/api/v1/audit/heads')).text),
  };
});
afterAll(async () => {
  await platform.close();
  await rm(folder, { recursive: true, force: true });
});

async function download(client: TestClient, query: string): Promise<string> {
  const answer = await client.get(`/api/v1/audit/export?${query}`);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="audit-/);
  return answer.text;
}

async function file(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

/** Runs the program as a user would. */
async function verified(content: string, ...args: readonly string[]) {
  const path = await file('export', content);
  return await new Promise<{ code: number; said: string }>((resolve) => {
    const child = execFile(process.execPath, [program, path, ...args], (_error, stdout) =>
      resolve({ code: child.exitCode ?? -1, said: stdout.trim() }),
    );
  });
}

const lines = (content: string) => content.trimEnd().split('\n');
/** Returns the export with part of its text replaced. */
const altered = (from: string | RegExp, to: string) => {
  const other = exported.ndjson.replace(from, to);
  expect(other).not.toBe(exported.ndjson);
  return other;
};

describe('an export with a saved key and heads', () => {
  test.each(['ndjson', 'csv'] as const)('is valid as %s', async (format) => {
    const said = await verified(exported[format], '--key', files.key, '--head', files.heads);
    expect(said).toEqual({ code: 0, said: `valid: ${head.audit_seq} entries` });
  });

  test('has no CSV cell that a spreadsheet would execute as a formula', () => {
    for (const name of names.slice(0, 4)) {
      expect(exported.csv).toContain(`'${name.replaceAll('"', '""')}`);
    }
    expect(exported.csv).not.toMatch(/(^|,)"?[=+@-]/m);
  });

  test('is valid without a key, but the impossible checks are reported', async () => {
    const { code, said } = await verified(exported.ndjson);
    expect([code, said]).toEqual([0, expect.stringMatching(/^note: .*not checked: no key\nvalid/)]);
  });

  test('can be checked as the continuation of an earlier export', async () => {
    const [entry] = lines(exported.ndjson).map((line) => JSON.parse(line) as typeof head);
    const rest = await download(platform.admin, 'from_seq=2');
    const saved = `${entry?.audit_seq}:${entry?.hash}`;
    const { said } = await verified(rest, '--head', saved, '--key', files.key);
    expect(said).toMatch(/valid: \d+ entries$/);
    expect(said).not.toContain('what came before');
    expect((await verified(rest)).said).toContain('begins at entry 2');
    const other = await verified(rest, '--head', `1:${'0'.repeat(64)}`);
    expect(other).toEqual({
      code: 1,
      said: 'BROKEN: entry 2 does not follow the saved head of entry 1',
    });
  });

  test('contains only hashes for entries that the user may not see', async () => {
    const auditor = await someone(platform, {
      role: 'viewer',
      groupIds: [groups.bots],
      canAudit: true,
    });
    await writeTrail(platform);
    for (const format of ['ndjson', 'csv']) {
      const part = await download(auditor, `format=${format}`);
      expect(part).toContain('Watched');
      expect(part).not.toContain('HYPERLINK');
      const { code, said } = await verified(part, '--key', files.key, '--head', files.heads);
      expect([code, said]).toEqual([
        0,
        expect.stringMatching(/^valid: \d+ entries, \d+ withheld$/),
      ]);
    }
  });
});

describe('a manipulated export', () => {
  test.each([
    [
      'an entry was changed',
      () => altered('"detail":"Watched"', '"detail":"Unwatched"'),
      /^BROKEN: the content of entry \d+ does not match its hash$/,
    ],
    [
      'an entry was removed',
      () => altered(/\{"audit_seq":3,.*\n/, ''),
      /^BROKEN: entry 3 is missing$/,
    ],
    [
      'a link was changed',
      () => altered(/("audit_seq":3,.*?"prev_hash":")[0-9a-f]{64}/, `$1${'f'.repeat(64)}`),
      /^BROKEN: entry 3 does not follow the previous entry$/,
    ],
    [
      'the export was truncated',
      () => lines(exported.ndjson).slice(0, -1).join('\n'),
      /the export was truncated$/,
    ],
    [
      'the head is of another entry',
      () => altered(/\{"head":\{"audit_seq":\d+/, '{"head":{"audit_seq":1'),
      /^BROKEN: the head refers to entry 1/,
    ],
    [
      'the head is signed with another key',
      () => altered(/"signature":"..../, '"signature":"AAAA'),
      /^BROKEN: the head of entry \d+ is not signed by/,
    ],
  ])('is detected: %s', async (_how, tampered, expected) => {
    const { code, said } = await verified(tampered(), '--key', files.key);
    expect([code, said]).toEqual([1, expect.stringMatching(expected)]);
  });

  test('is detected by a saved head of a later entry or another chain', async () => {
    const later = await verified(exported.ndjson, '--head', `${head.audit_seq + 5}:${head.hash}`);
    expect([later.code, later.said]).toEqual([
      1,
      expect.stringMatching(/the export was truncated$/),
    ]);
    const younger = { ...head, audit_seq: head.audit_seq + 5, time: '2999-01-01T00:00:00.000Z' };
    const file = join(folder, 'younger.json');
    await writeFile(file, JSON.stringify([younger]));
    const unsure = await verified(exported.ndjson, '--head', file);
    expect([unsure.code, unsure.said]).toEqual([
      1,
      expect.stringMatching(
        /Export again; if the entry is still absent, the export was truncated$/,
      ),
    ]);
    const other = await verified(exported.ndjson, '--head', `2:${head.hash}`);
    expect(other).toEqual({ code: 1, said: 'BROKEN: the saved head of entry 2 differs' });
  });
});

test('a file that is not an export is refused', async () => {
  expect((await verified('hello')).code).toBe(2);
  expect((await verified(exported.ndjson, '--head', 'x')).code).toBe(2);
  expect((await verified(exported.ndjson, '--key', 'x.pem')).code).toBe(2);
  expect((await verified(exported.ndjson, '--colour')).code).toBe(2);
});

test('audit exports and downloads are recorded in the audit log', async () => {
  await writeTrail(platform);
  const { items } = (await platform.admin.get('/api/v1/audit?action=audit_exported')).json;
  expect(items.at(-1)).toMatchObject({ detail: `ndjson, entries 1 to ${head.audit_seq}` });
  const scripts = (await platform.admin.get('/api/v1/audit?action=script_exported')).json.items;
  expect(scripts).toMatchObject([{ outcome: 'accepted', detail: 'version 1' }]);
});
