import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groups, run, script, someone, writeLines } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
let logs: string;
beforeAll(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
  const runId = await run(developer, (await script(developer)).id);
  logs = `/api/v1/runs/${runId}/logs`;
  const texts = Array.from({ length: 120 }, (_, index) => `line ${index + 1}`);
  await writeLines(platform, runId, 1, texts.slice(0, 70));
  await writeLines(platform, runId, 71, texts.slice(70));
});
afterAll(() => platform.close());

const seqs = (answer: { json: { items: { seq: number }[] } }) =>
  answer.json.items.map((one) => one.seq);

describe('the log of a run', () => {
  test('is read page by page, in order, without repeats', async () => {
    const all: number[] = [];
    let next = `${logs}?limit=50`;
    while (next !== '') {
      const page = await developer.get(next);
      all.push(...seqs(page));
      next = /<(.+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
    }
    expect(all).toEqual(Array.from({ length: 120 }, (_, index) => index + 1));
  });

  test('can be read from a line, from its end, or by text or stream', async () => {
    expect(seqs(await developer.get(`${logs}?from_seq=119`))).toEqual([119, 120]);
    expect(seqs(await developer.get(`${logs}?tail=2`))).toEqual([119, 120]);
    expect(seqs(await developer.get(`${logs}?q=LINE%2011&from_seq=20`))).toHaveLength(10);
    expect(seqs(await developer.get(`${logs}?stream=stderr`))).toEqual([]);
    const both = await developer.get(`${logs}?tail=2&cursor=abc`);
    expect([both.status, both.json.code]).toEqual([400, 'invalid_parameter']);
  });

  test('is filtered by minimum level, also in the text download', async () => {
    const runId = await run(developer, (await script(developer)).id);
    const levels = ['debug', 'info', 'warning', null, 'error', 'critical'] as const;
    await writeLines(platform, runId, 1, ['a', 'b', 'c', 'd', 'e', 'f'], levels);
    const levelLogs = `/api/v1/runs/${runId}/logs`;
    const page = await developer.get(`${levelLogs}?level=warning`);
    expect(page.json.items).toMatchObject([
      { seq: 3, level: 'warning' },
      { seq: 5, level: 'error' },
      { seq: 6, level: 'critical' },
    ]);
    expect(seqs(await developer.get(`${levelLogs}?level=debug`))).toEqual([1, 2, 3, 5, 6]);
    expect((await developer.get(`${levelLogs}?level=error&format=text`)).text).toBe('e\nf\n');
    expect((await developer.get(`${levelLogs}?level=loud`)).status).toBe(400);
  });

  test('is downloaded as plain text', async () => {
    const answer = await developer.get(`${logs}?format=text`);
    expect(answer.text.split('\n')).toHaveLength(121);
    expect(answer.text.startsWith('line 1\nline 2\n')).toBe(true);
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="run-/);
    expect((await developer.get(`${logs}?format=text&tail=1`)).text).toBe('line 120\n');
  });

  test('does not exist for a user of another group', async () => {
    const other = await someone(platform, { role: 'viewer', groupIds: [groups.bots] });
    expect((await other.get(logs)).status).toBe(404);
  });
});
