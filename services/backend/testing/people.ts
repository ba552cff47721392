// Long because it creates each kind of resource that route tests need.
/** Creates users of each role, and resources for them. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Command, Recorded } from '#domain/aggregates.ts';
import type { Role } from '#domain/kernel/actor.ts';
import {
  mustParse,
  parseBackupId,
  parseDeliveryId,
  parseNoticeId,
  parseRunId,
  parseScriptId,
} from '#domain/kernel/ids.ts';
import type { PostNotice } from '#domain/notice/commands.ts';
import { platformError, type Frame } from '#domain/run/error/error.ts';
import { noTotals } from '#domain/run/run.ts';
import { backupContent } from '#domain/testing/samples.ts';
import {
  archiveName,
  downloadOf,
  partKey,
  removeBackup,
  saveSummary,
  storedBackup,
} from '#infra/backup/files.ts';
import { makeBackup } from '#infra/backup/make.ts';
import { expect } from 'vitest';
import { systemContext } from '#domain/ports/commands.ts';
import type { LogLevel } from '#domain/ports/run-logs.ts';
import type { KeptError } from '#services/shared/run-errors.ts';
import type { TestBackend } from './test-backend.ts';
import { TestClient } from './test-client.ts';

export const groups = {
  monitoring: '01900000-0000-7000-8000-000000000001',
  bots: '01900000-0000-7000-8000-000000000002',
  custom: '01900000-0000-7000-8000-000000000004',
} as const;

/** A UUID that refers to nothing. */
export const nowhere = '00000000-0000-7000-8000-0000000000ff';

export interface Wanted {
  readonly role: Role;
  readonly groupIds: readonly string[];
  readonly canAudit?: boolean;
}

let made = 0;

/** The password of every account that is created here. */
export const accountPassword = 'a good password';

/** Creates an account and signs it in. */
export async function someone(platform: TestBackend, wanted: Wanted): Promise<TestClient> {
  return (await accountHolder(platform, wanted)).client;
}

/** Creates an account, signs it in, and returns the account's ID and credentials. */
export async function accountHolder(
  { admin, anonymous }: TestBackend,
  { role, groupIds, canAudit = false }: Wanted = { role: 'operator', groupIds: [groups.custom] },
) {
  const credentials = { email: `${role}${(made += 1)}@example.com`, password: accountPassword };
  const body = { ...credentials, role, group_ids: groupIds, can_audit: canAudit };
  const created = await admin.post('/api/v1/users', body);
  expect(created.status, created.text).toBe(201);
  return {
    ...credentials,
    id: created.json.id as string,
    client: await anonymous.signIn(credentials),
  };
}

/** Creates an API token of a user. @returns a client that uses it, and its ID */
export async function apiToken(
  owner: TestClient,
  scopes: readonly string[],
  body: object = {},
): Promise<{ readonly client: TestClient; readonly id: string }> {
  const made = await owner.post('/api/v1/auth/tokens', { name: 'deploy', scopes, ...body });
  expect(made.status, made.text).toBe(201);
  const { id, token } = made.json as { id: string; token: string };
  return { id, client: new TestClient(owner.origin, token) };
}

/** Creates a webhook of a script. @returns its ID and its token */
export async function webhook(
  owner: TestClient,
  scriptId: string,
  body: object = {},
): Promise<{ readonly id: string; readonly token: string }> {
  const made = await owner.post('/api/v1/webhooks', { script_id: scriptId, ...body });
  expect(made.status, made.text).toBe(201);
  return made.json as { id: string; token: string };
}

/** Requests a run of a protected script.
 *  @returns the approval's ID, which is also the run's ID */
export async function approval(administrator: TestClient, groupId: string): Promise<string> {
  const wanted = { group_id: groupId, protected: { run: true } };
  return await run(administrator, (await script(administrator, wanted)).id);
}

/** Requests a change to `main.py` of a protected script.
 *  @returns the approval's ID */
export async function requestedChange(administrator: TestClient, groupId: string): Promise<string> {
  const wanted = { group_id: groupId, protected: { save: true } };
  const { id } = await script(administrator, wanted);
  const saved = await administrator.putBytes(`/api/v1/scripts/${id}/files/main.py`, 'pass\n');
  expect(saved.status, saved.text).toBe(202);
  return (saved.json as { id: string }).id;
}

/** Creates a chain from one script to another. @returns its ID */
export async function chain(
  owner: TestClient,
  sourceScriptId: string,
  targetScriptId: string,
): Promise<string> {
  const body = { source_script_id: sourceScriptId, target_script_id: targetScriptId };
  const made = await owner.post('/api/v1/chains', body);
  expect(made.status, made.text).toBe(201);
  return (made.json as { id: string }).id;
}

export interface MadeScript {
  readonly id: string;
  readonly version: number;
}

/** Creates a channel. @returns its ID */
export async function channel(owner: TestClient, body: object = {}): Promise<string> {
  const config = { url: 'https://example.com/hook' };
  const wanted = { name: 'on call', kind: 'webhook', config, ...body };
  const made = await owner.post('/api/v1/notifications/channels', wanted);
  expect(made.status, made.text).toBe(201);
  return (made.json as { id: string }).id;
}

/** Creates a Git repository at an address where no server listens.
 *  @returns its ID */
export async function repository(admin: TestClient): Promise<string> {
  const body = {
    name: `Jobs ${(made += 1)}`,
    url: 'http://127.0.0.1:9/jobs.git',
    poll_seconds: null,
  };
  const { json } = await admin.post('/api/v1/repositories', body);
  return (json as { id: string }).id;
}

/** Creates a secret store with files, which all groups may use. @returns its ID */
export async function secretStore(admin: TestClient, body: object = {}): Promise<string> {
  const name = `Mounted ${(made += 1)}`;
  const wanted = { name, type: 'files', group_ids: null, folder: 'mounted', ...body };
  const answer = await admin.post('/api/v1/secret-stores', wanted);
  expect(answer.status, answer.text).toBe(201);
  return (answer.json as { id: string }).id;
}

/** Creates an identity provider once.
 *  @returns its ID */
export async function identityProvider(admin: TestClient, slug: string): Promise<string> {
  const path = '/api/v1/identity-providers';
  const settings = { issuer: 'https://id.example.com', client_id: 'orchestrator' };
  await admin.post(path, { slug, name: slug, ...settings });
  const { json } = await admin.get(path);
  const found = (json.items as { id: string; slug: string }[]).find((one) => one.slug === slug);
  return found?.id ?? '';
}

/** Creates a complete backup of three bytes.
 *  @returns its ID */
export async function backup({ services }: TestBackend): Promise<string> {
  const { commands, ids, objects } = services;
  const backupId = mustParse(parseBackupId, ids.next());
  const content = backupContent({ sizeBytes: 3 });
  await objects.put(partKey(backupId, archiveName), Buffer.from('tar'));
  await objects.put(partKey(backupId, 'keys.json'), Buffer.from('[]\n'));
  await saveSummary(objects, { format: 1, backupId, ...content });
  for (const command of [
    { type: 'StartBackup', backupId, kind: content.kind },
    { type: 'FinishBackup', backupId, content },
  ] as const) {
    await commands.execute(command, systemContext('scheduler', ids.next(), backupId));
  }
  return backupId;
}

/** Returns the file of a backup that this installation does not have. */
export async function downloadedBackup(
  { services }: TestBackend,
  key?: Uint8Array,
  masterKey: Uint8Array = services.masterKeys[0],
): Promise<Buffer> {
  const { ids, objects, pool } = services;
  const id = mustParse(parseBackupId, ids.next());
  const createdAt = new Date('2026-01-02T03:04:05.678Z');
  await makeBackup(
    { pool, objects, key, masterKey, version: '0.1.13' },
    { backupId: id, kind: 'manual', createdAt, now: () => createdAt },
    new AbortController().signal,
  );
  const source = await storedBackup(objects, id);
  if (source === undefined) throw new Error('there is no backup');
  const file = await buffer(Readable.from((await downloadOf(source)).chunks));
  await removeBackup(objects, id);
  return file;
}

/** Creates a rule that notifies a channel about all failures. @returns the rule's ID */
export async function notificationRule(
  owner: TestClient,
  channelId: string,
  body: object = {},
): Promise<string> {
  const rule = { name: 'failures', on: ['failed'], channel_ids: [channelId], ...body };
  const made = await owner.post('/api/v1/notifications/rules', rule);
  expect(made.status, made.text).toBe(201);
  return (made.json as { id: string }).id;
}

/** Tests a channel. @returns the delivery's ID */
export async function delivery(owner: TestClient, channelId: string): Promise<string> {
  const path = `/api/v1/notifications/channels/${channelId}/test`;
  const queued = await owner.post(path, undefined);
  expect(queued.status, queued.text).toBe(202);
  return (queued.json as { id: string }).id;
}

/** Ends a delivery with a final failure. */
export async function failDelivery(platform: TestBackend, id: string): Promise<void> {
  await asRuntime(platform, {
    type: 'RecordAttempt',
    deliveryId: mustParse(parseDeliveryId, id),
    attempt: 1,
    at: '2026-11-21T02:31:00.000Z',
    result: {
      kind: 'failed',
      error: 'The server does not respond.',
      final: true,
      retryAfterSeconds: null,
    },
  });
}

/** Creates a script. @returns the response */
export async function script(client: TestClient, body: object = {}): Promise<MadeScript> {
  const created = await client.post('/api/v1/scripts', { name: 'A script', ...body });
  expect(created.status, created.text).toBe(201);
  return created.json as MadeScript;
}

/** Schedules a script daily, unless `body` specifies another timing.
 *  @returns the schedule's ID */
export async function schedule(
  client: TestClient,
  scriptId: string,
  body: object = { cron: '@daily' },
): Promise<string> {
  const made = await client.post('/api/v1/schedules', { script_id: scriptId, ...body });
  expect(made.status, made.text).toBe(201);
  return (made.json as { id: string }).id;
}

/** Queues a run of a script. @returns its ID */
export async function run(
  client: TestClient,
  scriptId: string,
  body: object = {},
): Promise<string> {
  const queued = await client.post(`/api/v1/runs/scripts/${scriptId}/run`, body);
  expect(queued.status, queued.text).toBe(202);
  return (queued.json as { run_id: string }).run_id;
}

/** Executes a command on behalf of a runtime. */
export async function asRuntime(
  { services }: TestBackend,
  command: Command,
  content?: Uint8Array,
): Promise<readonly Recorded[]> {
  const context = systemContext('runtime', services.ids.next());
  const outcome = await services.commands.execute(command, context, content);
  if (outcome.kind !== 'accepted') throw new Error(JSON.stringify(outcome));
  return outcome.events;
}

/** Sends a notification about a script.
 *  @returns the notification's ID */
export async function notice(
  platform: TestBackend,
  scriptId: string | null,
  said: Partial<PostNotice> = {},
): Promise<string> {
  const noticeId = mustParse(parseNoticeId, platform.services.ids.next());
  await asRuntime(platform, {
    type: 'PostNotice',
    noticeId,
    runId: null,
    scriptId: scriptId === null ? null : mustParse(parseScriptId, scriptId),
    level: 'info',
    message: 'Done.',
    ...said,
  });
  return noticeId;
}

/** Starts a queued run on behalf of a runtime. @returns the fence */
export async function startRun(
  platform: TestBackend,
  id: string,
  runtimeId = 'runtime-1',
): Promise<number> {
  const runId = mustParse(parseRunId, id);
  const [event] = await asRuntime(platform, {
    type: 'StartRun',
    runId,
    runtimeId,
    layers: ['seccomp'],
  });
  return event?.version ?? 0;
}

/** Ends a started run. */
export async function finishRun(
  platform: TestBackend,
  id: string,
  fence: number,
  outcome: 'success' | 'exit_code' = 'success',
  durationMs = 12,
  error?: KeptError,
): Promise<void> {
  const end = {
    type: 'FinishRun',
    runId: mustParse(parseRunId, id),
    fence,
    outcome,
    exitCode: outcome === 'success' ? 0 : 1,
    signal: null,
    totals: { ...noTotals, durationMs, cpuSeconds: 0.01, maxMemoryBytes: 1, maxThreads: 1 },
    ...(error && { error: error.fact }),
  } as const;
  await asRuntime(platform, end, error?.content);
}

/** Fails a run of a script with an exception. @returns the run's ID */
export async function failWith(
  platform: TestBackend,
  scriptId: string,
  {
    type = 'ValueError',
    message = 'wrong',
    fingerprint = 'f',
    frames = [] as readonly Frame[],
  } = {},
): Promise<string> {
  const runId = await run(platform.admin, scriptId);
  const fence = await startRun(platform, runId);
  const error = { ...platformError('exit_code'), type, message, frames, source: 'log' };
  const fact = { type, source: 'log', fingerprint, sha256: '' } as const;
  const content = Buffer.from(JSON.stringify(error));
  await finishRun(platform, runId, fence, 'exit_code', 12, { content, fact });
  return runId;
}

/** Stores log lines of a run like a runtime, and publishes them on the bus. */
export async function writeLines(
  { services, bus }: TestBackend,
  runId: string,
  firstSeq: number,
  texts: readonly string[],
  levels: readonly (LogLevel | null)[] = [],
): Promise<void> {
  const items = texts.map((text, index) => ({
    seq: firstSeq + index,
    time: '2026-11-21T02:31:00.000Z',
    stream: 'stdout' as const,
    level: levels[index] ?? null,
    text,
  }));
  const lastSeq = firstSeq + texts.length - 1;
  const itemsJson = JSON.stringify(items);
  const bytes = texts.join('\n').length + 1;
  await services.runLogs.append([{ runId, firstSeq, lastSeq, bytes, itemsJson }]);
  bus.publish({ topic: 'log', runId, firstSeq, lastSeq, items: itemsJson });
}

export interface StoredRefusal {
  readonly operation: string;
  readonly resource: string | null;
  readonly code: string;
  readonly count: number;
}

/** Returns all recorded refusals, after pending refusals have been recorded. */
export async function refusals({ backend, pool }: TestBackend): Promise<readonly StoredRefusal[]> {
  await backend.settle();
  const { rows } = await pool.query<{ data: StoredRefusal }>(
    `SELECT data FROM events WHERE type = 'RequestRefused' ORDER BY global_position`,
  );
  return rows.map((row) => row.data);
}

/** The number of events other than refusals and sign-ins. */
export async function deeds(platform: TestBackend): Promise<number> {
  return (await eventsSince(platform, '1:1:')).deeds;
}

export interface EventCounts {
  /** Events other than refusals and sign-ins. */
  readonly deeds: number;
  readonly refusals: number;
}

/** The state of the database for `eventsSince`, after all refusals are recorded. */
export async function snapshot({ backend, pool }: TestBackend): Promise<string> {
  await backend.settle();
  const { rows } = await pool.query<{ taken: string }>('SELECT pg_current_snapshot() AS taken');
  return rows[0]?.taken ?? '';
}

/** Counts the events since a snapshot, after all refusals are recorded. PostgreSQL counts the events, so no row is read. */
export async function eventsSince(
  { backend, pool }: TestBackend,
  before: string,
): Promise<EventCounts> {
  await backend.settle();
  const { rows } = await pool.query<EventCounts>(
    `SELECT count(*) FILTER (WHERE type NOT IN ('RequestRefused', 'SessionOpened'))::int AS deeds,
       count(*) FILTER (WHERE type = 'RequestRefused')::int AS refusals
     FROM events
     WHERE transaction_id >= pg_snapshot_xmin($1::pg_snapshot)
       AND NOT pg_visible_in_snapshot(transaction_id, $1::pg_snapshot)`,
    [before],
  );
  return rows[0] ?? { deeds: 0, refusals: 0 };
}
