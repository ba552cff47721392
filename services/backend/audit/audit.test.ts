// Long because all tests read one trail, which takes seconds to write.
import { createHash } from 'node:crypto';
import { canonicalJson } from '#domain/kernel/json.ts';
import { isSignedBy } from '#infra/audit/head-signer.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { whileTampered, writeTrail } from '../testing/audit-trail.ts';
import { finishRun, groups, run, script, someone, startRun } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

interface Entry {
  readonly audit_seq: number;
  readonly time: string;
  readonly actor: string;
  readonly action: string;
  readonly resource: string;
  readonly resource_name: string | null;
  readonly error_type: string | null;
  readonly error_group_id: string | null;
  readonly outcome: string;
  readonly detail: string | null;
  readonly event_position: number;
  readonly prev_hash: string;
  readonly hash: string;
}

let platform: TestBackend;
let admin: TestClient;
let developer: TestClient;
let auditor: TestClient;
let scriptId: string;
let foreignId: string;
beforeAll(async () => {
  platform = await startTestBackend();
  ({ admin } = platform);
  developer = await someone(platform, { role: 'developer', groupIds: [groups.bots] });
  const watching = { role: 'viewer', groupIds: [groups.bots], canAudit: true } as const;
  auditor = await someone(platform, watching);
  ({ id: scriptId } = await script(developer, { name: 'Watched', group_id: groups.bots }));
  ({ id: foreignId } = await script(admin, { name: 'Foreign' }));
  await developer.putBytes(`/api/v1/scripts/${scriptId}/files/main.py`, 'print(1)');
  const runId = await run(developer, scriptId);
  await finishRun(platform, runId, await startRun(platform, runId));
  await auditor.post(`/api/v1/runs/scripts/${scriptId}/run`);
  await writeTrail(platform);
});
afterAll(() => platform.close());

async function entries(query: string, client = admin): Promise<readonly Entry[]> {
  const answer = await client.get(`/api/v1/audit?limit=200${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.items as readonly Entry[];
}

async function verdict(query = '') {
  const answer = await admin.get(`/api/v1/audit/verify${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
}

test('the audit trail omits reads of a deleted script, because they are not denied', async () => {
  const { id } = await script(admin);
  const { id: other } = await script(admin);
  await admin.delete(`/api/v1/scripts/${id}`);
  expect((await admin.get(`/api/v1/scripts/${id}`)).status).toBe(404);
  expect((await auditor.get(`/api/v1/scripts/${other}`)).status).toBe(404);
  await writeTrail(platform);
  const refused = (await entries('&outcome=refused')).map(({ resource }) => resource);
  expect(refused).toContain(`script-${other}`);
  expect(refused).not.toContain(`script-${id}`);
});

describe('a list of user actions', () => {
  test('omits platform actions', async () => {
    const all = await entries(`&resource=script-${scriptId}`);
    const people = await entries('&people=true');
    expect(people.every(({ actor }) => actor.includes('@'))).toBe(true);
    expect(people.map(({ action }) => action)).toContain('file_saved');
    expect(people.map(({ action }) => action)).not.toContain('run_started');
    expect((await entries('')).map(({ action }) => action)).toContain('run_started');
    expect(all.map(({ resource_name: name }) => name)).toEqual(all.map(() => 'Watched'));
  });
});

test('entries of a named schedule have its name and the name of its script, and are found by its name', async () => {
  const { id } = await script(admin, { name: 'Invoices' });
  const body = { script_id: id, cron: '0 3 * * *', name: 'Nightly' };
  const { json: made } = await admin.post('/api/v1/schedules', body);
  await writeTrail(platform);
  expect(await entries('&q=nightly')).toMatchObject([
    { resource: `schedule-${made.id}`, resource_name: 'Nightly (Invoices)' },
  ]);
});

describe('the audit trail', () => {
  test('is a hash chain that any reader can verify', async () => {
    const chain = (await entries('&order=asc')) as Entry[];
    expect(chain.map((entry) => entry.audit_seq)).toEqual(chain.map((_, index) => index + 1));
    for (const [index, entry] of chain.entries()) {
      const { event_position: _, resource_name: __, hash, ...rest } = entry;
      const { error_type: ___, error_group_id: ____, ...hashed } = rest;
      expect(hash).toBe(createHash('sha256').update(canonicalJson(hashed)).digest('hex'));
      expect(hashed.prev_hash).toBe(chain[index - 1]?.hash ?? '0'.repeat(64));
    }
  });

  test('can be filtered, and lists the newest entries first', async () => {
    const all = await entries('');
    const one = all.find((entry) => entry.action === 'file_saved')!;
    const cases: readonly (readonly [string, (entry: Entry) => boolean])[] = [
      [`actor=${one.actor}`, (entry) => entry.actor === one.actor],
      ['action=script_created', (entry) => entry.action === 'script_created'],
      [`resource=script-${scriptId}`, (entry) => entry.resource === `script-${scriptId}`],
      ['q=File%20SAVED', (entry) => entry.action === 'file_saved'],
      ['q=watch', (entry) => entry.resource === `script-${scriptId}`],
      ['outcome=refused', (entry) => entry.outcome === 'refused'],
      [`position=${one.event_position}`, (entry) => entry === one],
      [`from_position=${one.event_position}`, (e) => e.event_position >= one.event_position],
      [`to_position=${one.event_position}`, (e) => e.event_position <= one.event_position],
      [`from=${one.time}`, (entry) => entry.time >= one.time],
      [`to=${one.time}`, (entry) => entry.time < one.time],
      [
        `actor=${one.actor}&action=file_saved&resource=script-${scriptId}&outcome=accepted`,
        (entry) => entry === one,
      ],
    ];
    for (const [query, isWanted] of cases) {
      const found = await entries(`&${query}`);
      expect(found, query).toEqual(all.filter(isWanted));
      expect(found.length, query).toBeGreaterThan(0);
    }
    expect(await entries('&from=2999-01-01T00:00:00Z')).toEqual([]);
    expect(await entries('&actor=unknown')).toEqual([]);
    expect(await entries('&q=50%25_')).toEqual([]);
  });

  test('lists the possible values of its filters', async () => {
    const values = async (client: TestClient) => (await client.get('/api/v1/audit/values')).json;
    const all = await entries('');
    expect((await values(admin)).actors).toEqual(
      [...new Set(all.map((one) => one.actor))].toSorted(),
    );
    const seen = await entries('', auditor);
    expect(new Set((await values(auditor)).actions)).toEqual(
      new Set(seen.map((one) => one.action)),
    );
  });

  test('can be read page by page, without gaps or repeats', async () => {
    const all = await entries('&order=asc');
    const read: Entry[] = [];
    for (let cursor = ''; ;) {
      const page = (await admin.get(`/api/v1/audit?limit=4&order=asc${cursor}`)).json;
      read.push(...page.items);
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(read).toEqual(all);
  });

  test('cannot be read with a cursor of another sort order', async () => {
    const { next_cursor: cursor } = (await admin.get('/api/v1/audit?limit=1')).json;
    const answer = await admin.get(`/api/v1/audit?limit=1&order=asc&cursor=${cursor}`);
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid_cursor']);
  });

  test('shows auditors of a group the entries of that group', async () => {
    const seen = await entries('', auditor);
    expect(new Set(seen.map((entry) => entry.action))).toEqual(
      new Set([
        'group_created',
        'script_created',
        'file_saved',
        'run_queued',
        'run_started',
        'run_finished',
        'POST /api/v1/runs/scripts/{id}/run',
      ]),
    );
    expect(seen.some((entry) => entry.resource === `script-${foreignId}`)).toBe(false);
    expect(await entries(`&resource=script-${foreignId}`, auditor)).toEqual([]);
    const all = await entries('');
    expect(all.some((entry) => entry.resource === `script-${foreignId}`)).toBe(true);
  });

  test('has counts per time bucket that are consistent with the list', async () => {
    const all = await entries('&order=asc');
    const [first, last] = [all[0]?.time ?? '', all.at(-1)?.time ?? ''];
    const to = new Date(Date.parse(last) + 1).toISOString();
    const answer = await admin.get(`/api/v1/audit/density?to=${to}&buckets=7`);
    expect(answer.status, answer.text).toBe(200);
    const { from, items, estimated, bucket_seconds: seconds } = answer.json;
    expect([from, estimated]).toEqual([first, false]);
    for (const { time, entries: counted, not_accepted } of items) {
      const end = Date.parse(time) + seconds * 1000;
      const within = all.filter(({ time: at }) => at >= time && Date.parse(at) < end);
      const others = within.filter(({ outcome }) => outcome !== 'accepted');
      expect([counted, not_accepted]).toEqual([within.length, others.length]);
    }
    const sum = (list: readonly { readonly entries: number }[]) =>
      list.reduce((total, one) => total + one.entries, 0);
    expect(sum(items)).toBe(all.length);
    const own = await admin.get(`/api/v1/audit/density?actor=setup`);
    expect(sum(own.json.items)).toBe((await entries('&actor=setup')).length);
    const seen = await auditor.get('/api/v1/audit/density');
    expect(sum(seen.json.items)).toBe((await entries('', auditor)).length);
    const empty = await admin.get(`/api/v1/audit/density?from=${to}&to=${first}`);
    expect([empty.status, empty.json.code]).toEqual([400, 'invalid_parameter']);
  });

  test('shows nothing to an auditor without a group', async () => {
    const outsider = await someone(platform, { role: 'viewer', groupIds: [], canAudit: true });
    expect(await entries('', outsider)).toEqual([]);
    await writeTrail(platform);
  });
});

describe('an unchanged trail', () => {
  test('is valid, and verification signs and stores its head', async () => {
    const { head, ...result } = await verdict();
    const [newest] = await entries('');
    const none = { first_broken: null, reason: null };
    expect(result).toEqual({ valid: true, entries: newest?.audit_seq, ...none });
    expect(head).toMatchObject({ audit_seq: newest?.audit_seq, hash: newest?.hash });
    const heads = (await admin.get('/api/v1/audit/heads')).json.items;
    expect(heads[0]).toEqual(head);
    const pem = await admin.get('/api/v1/audit/key');
    expect(pem.headers.get('content-disposition')).toContain(`audit-${head.key_id}.pem`);
    expect(isSignedBy(pem.text, { ...head, time: new Date(head.time) })).toBe(true);
    const named = await admin.get(`/api/v1/audit/key?key_id=${head.key_id}`);
    expect(named.text).toBe(pem.text);
    expect((await admin.get(`/api/v1/audit/key?key_id=${'0'.repeat(16)}`)).status).toBe(404);
    const saved = await verdict(`?head=${head.audit_seq}:${head.hash}`);
    expect(saved).toMatchObject({ valid: true });
  });

  test.each([
    ['application/x-ndjson', (text: string) => text.trim().split('\n')],
    [
      'text/event-stream',
      (text: string) => [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data),
    ],
  ])('streams the verification progress as %s', async (accept, split) => {
    const answer = await admin.get('/api/v1/audit/verify', { headers: { Accept: accept } });
    expect(answer.headers.get('content-type')).toBe(accept);
    const told = split(answer.text).map((line) => JSON.parse(line) as object);
    const result = told.at(-1) as { valid: boolean; entries: number };
    expect(result.valid).toBe(true);
    expect(told.slice(0, -1)).toContainEqual({
      checked: result.entries,
      entries: result.entries,
    });
  });

  test('refuses a malformed head', async () => {
    const answer = await admin.get('/api/v1/audit/verify?head=12');
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid_parameter']);
  });
});

describe('a trail that the database owner changed', () => {
  const at = async (statements: readonly string[], query = '') =>
    await whileTampered(platform, statements, () => verdict(query));

  test.each([
    ['an event', `UPDATE events SET data = data || '{"name": "Renamed"}'`, 'event_changed'],
    ['the actor', `UPDATE events SET metadata = metadata || '{"ip": "::1"}'`, 'event_changed'],
    ['the time', `UPDATE events SET recorded_at = recorded_at + '1h'`, 'event_changed'],
  ])(
    'is reported as broken at the affected entry when %s was changed',
    async (_what, update, reason) => {
      const [entry] = await entries(`&action=script_created&resource=script-${scriptId}`);
      const where = `WHERE stream_id = 'script-${scriptId}' AND version = 1`;
      expect(await at([`${update} ${where}`])).toMatchObject({
        valid: false,
        first_broken: entry?.audit_seq,
        reason,
        head: null,
      });
    },
  );

  test.each([
    ['changed', `UPDATE audit SET actor = 'another user' WHERE audit_seq = 7`, 'entry_changed'],
    ['rehashed', `UPDATE audit SET hash = prev_hash WHERE audit_seq = 7`, 'hash_changed'],
    ['removed', 'DELETE FROM audit WHERE audit_seq = 7', 'entry_missing'],
  ])('is reported as broken at the entry that was %s', async (_how, statement, reason) => {
    expect(await at([statement])).toMatchObject({ valid: false, first_broken: 7, reason });
  });

  test('is reported as broken at the entry of a deleted event', async () => {
    const [entry] = await entries(`&resource=script-${scriptId}&action=file_saved`);
    const take = `DELETE FROM events WHERE global_position = ${entry?.event_position}`;
    expect(await at([take])).toMatchObject({
      first_broken: entry?.audit_seq,
      reason: 'event_missing',
    });
  });

  test('is reported as broken at the entry whose event was replaced', async () => {
    const put = `INSERT INTO events OVERRIDING SYSTEM VALUE
      SELECT (jsonb_populate_record(e, jsonb_build_object('global_position', 0,
        'event_id', gen_random_uuid(), 'stream_id', 'group-' || gen_random_uuid()))).*
      FROM events e JOIN audit USING (event_id) WHERE audit_seq = 7`;
    const [first] = (
      await platform.pool.query(`SELECT min(a.audit_seq)::int AS seq FROM audit a
      JOIN events e USING (event_id) WHERE e.transaction_id = (SELECT transaction_id FROM events
        JOIN audit USING (event_id) WHERE audit_seq = 7)`)
    ).rows;
    expect(await at([put])).toMatchObject({ first_broken: first.seq, reason: 'event_added' });
  });

  test('fails verification against a saved head when its last entries were removed', async () => {
    await writeTrail(platform);
    const { head } = await verdict();
    const keep = head.audit_seq - 2;
    const cut = [
      `DELETE FROM events e USING audit a WHERE a.event_id = e.event_id AND audit_seq > ${keep}`,
      `DELETE FROM audit WHERE audit_seq > ${keep}`,
      `UPDATE checkpoints SET (transaction_id, global_position) = (SELECT transaction_id,
        global_position FROM events ORDER BY transaction_id DESC, global_position DESC LIMIT 1)`,
    ];
    const lost = { valid: false, first_broken: keep + 1, reason: 'tail_missing' };
    expect(await at(cut)).toMatchObject(lost);
    const unseen = [...cut, 'DELETE FROM audit_heads'];
    expect(await at(unseen)).toMatchObject({ valid: true, entries: keep });
    expect(await at(unseen, `?head=${head.audit_seq}:${head.hash}`)).toMatchObject(lost);
  });

  test('fails verification against an earlier head when its hashes were recomputed', async () => {
    const { head } = await verdict();
    const other = `?head=${head.audit_seq}:${'0'.repeat(64)}`;
    const differs = { valid: false, first_broken: head.audit_seq, reason: 'head_differs' };
    expect(await verdict(other)).toMatchObject(differs);
    const forged = `UPDATE audit_heads SET hash = prev_hash FROM audit a
      WHERE a.audit_seq = audit_heads.audit_seq AND a.audit_seq = ${head.audit_seq}`;
    expect(await at([forged])).toMatchObject(differs);
    const unsigned = `UPDATE audit_heads SET time = time + '1s' WHERE audit_seq = ${head.audit_seq}`;
    expect(await at([unsigned])).toMatchObject({ reason: 'head_not_signed' });
  });

  test('is valid again when the changes are reverted', async () => {
    expect(await verdict()).toMatchObject({ valid: true });
  });
});
