/** An administrator reviews a failed night using only the API: finds the cause, fixes it, and verifies the fix. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { mustParse, parseRunId, parseScriptId } from '#domain/kernel/ids.ts';
import { noTotals } from '#domain/run/run.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeTrail } from './testing/audit-trail.ts';
import { asRuntime, groups, run, schedule, script, someone, startRun } from './testing/people.ts';
import { startTestBackend, type TestBackend } from './testing/test-backend.ts';
import type { TestClient } from './testing/test-client.ts';

const verifier = fileURLToPath(new URL('../../scripts/verify-audit.ts', import.meta.url));
const [good, bad] = ['print("42 rows")\n', 'print(1 / 0)\n'];

let platform: TestBackend;
let folder: string;
let developer: TestClient;
let reviewer: TestClient;
let scriptId: string;
let scheduleId: string;
let failedRun: string;

interface Entry {
  readonly audit_seq: number;
  readonly time: string;
  readonly actor: string;
  readonly action: string;
  readonly resource: string;
  readonly detail: string | null;
  readonly event_position: number;
}

beforeAll(async () => {
  platform = await startTestBackend();
  folder = await mkdtemp(join(tmpdir(), 'orch-review-'));
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
  const watching = { role: 'viewer', groupIds: [groups.custom], canAudit: true } as const;
  reviewer = await someone(platform, watching);
  await theNight();
  await writeTrail(platform);
});
afterAll(async () => {
  await platform.close();
  await rm(folder, { recursive: true, force: true });
});

/** Prepares the failure: a working script is changed, fails, reads a secret, and is deleted. */
async function theNight(): Promise<void> {
  ({ id: scriptId } = await script(developer, { name: 'Night report' }));
  const files = `/api/v1/scripts/${scriptId}/files`;
  await developer.putBytes(`${files}/main.py`, good);
  await developer.put(`/api/v1/scripts/${scriptId}/secrets/TOKEN`, { value: 'of that night' });
  scheduleId = await schedule(developer, scriptId, { cron: '30 2 * * *' });
  await finished(await run(developer, scriptId), 'success');
  await developer.putBytes(`${files}/main.py`, bad);
  failedRun = await run(developer, scriptId, { params: { day: '2026-11-21' } });
  await asRuntime(platform, {
    type: 'ReadSecrets',
    runId: mustParse(parseRunId, failedRun),
    scriptId: mustParse(parseScriptId, scriptId),
    secrets: [{ name: 'TOKEN', version: 1 }],
  });
  await finished(failedRun, 'exit_code');
  await developer.patch(`/api/v1/schedules/${scheduleId}`, { cron: '@hourly' });
  await developer.delete(`/api/v1/scripts/${scriptId}`);
}

async function finished(id: string, outcome: 'success' | 'exit_code'): Promise<void> {
  const runId = mustParse(parseRunId, id);
  const fence = await startRun(platform, id);
  const exitCode = outcome === 'success' ? 0 : 1;
  const end = { type: 'FinishRun', runId, fence, outcome, exitCode, signal: null } as const;
  await asRuntime(platform, { ...end, totals: noTotals });
}

async function entries(query: string): Promise<readonly Entry[]> {
  const answer = await reviewer.get(`/api/v1/audit?limit=200&${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.items as readonly Entry[];
}

async function the(query: string): Promise<Entry> {
  const [entry, ...others] = await entries(query);
  expect(others).toEqual([]);
  return entry!;
}

test('an administrator investigates failed runs, fixes the cause and verifies the fix', async () => {
  // Find the failed runs.
  const failure = await the('outcome=failed');
  expect(failure).toMatchObject({ action: 'run_finished', detail: 'exit_code' });
  expect(failure.resource).toBe(`run-${failedRun}`);

  // Find the script, its code, and the resources at that time.
  const broken = (await reviewer.get(`/api/v1/runs/${failedRun}`)).json;
  expect(broken).toMatchObject({ script_id: scriptId, params: { day: '2026-11-21' } });
  const asAdmin = platform.admin;
  const code = async (at: number) =>
    (await asAdmin.get(`/api/v1/scripts/${scriptId}/files/main.py?at=${at}`)).text;
  expect(await code(failure.event_position)).toBe(bad);
  const during = (await reviewer.get(`/api/v1/replay?at=${failure.event_position - 1}`)).json;
  expect(during.runs.items).toMatchObject([{ run_id: failedRun, status: 'running' }]);
  expect(during.scripts.items).toMatchObject([{ id: scriptId, version: broken.script_version }]);

  // Find the author of the change, and the author's other changes.
  const saves = await entries(`resource=script-${scriptId}&action=file_saved`);
  expect(saves).toHaveLength(2);
  expect(saves[0]).toMatchObject({ actor: expect.stringMatching(/^developer/), detail: 'main.py' });
  const secret = await the('action=secrets_read');
  expect(secret).toMatchObject({ resource: `secret-${scriptId}`, detail: 'TOKEN' });
  const { items } = (await reviewer.get(`/api/v1/replay/diff?from=${failure.event_position}`)).json;
  expect(items).toMatchObject([
    { kind: 'script', id: scriptId, change: 'deleted' },
    { kind: 'schedule', id: scheduleId, change: 'deleted', before: { cron: '30 2 * * *' } },
  ]);

  // The script is restored, and the run is repeated with its version.
  expect((await developer.post(`/api/v1/scripts/${scriptId}/undelete`)).status).toBe(200);
  const again = await developer.post(`/api/v1/runs/${failedRun}/rerun`, { version: 'same' });
  expect(again.json).toMatchObject({
    script_version: broken.script_version,
    params: { day: '2026-11-21' },
    trigger: { type: 'rerun', run_id: failedRun },
  });

  // The audit trail is verified without the server.
  await writeTrail(platform);
  const verdict = (await reviewer.get('/api/v1/audit/verify')).json;
  expect(verdict).toMatchObject({ valid: true, first_broken: null });
  const file = async (name: string, path: string, client: TestClient) => {
    await writeFile(join(folder, name), (await client.get(path)).text);
    return join(folder, name);
  };
  const exported = await file('audit.ndjson', '/api/v1/audit/export', asAdmin);
  const key = await file('audit.pem', '/api/v1/audit/key', reviewer);
  const head = `${verdict.head.audit_seq}:${verdict.head.hash}`;
  const args = [verifier, exported, '--key', key, '--head', head];
  const { stdout: said } = await promisify(execFile)(process.execPath, args);
  expect(said).toMatch(/^(note: .* no key\n)?valid: \d+ entries\n$/);
});
