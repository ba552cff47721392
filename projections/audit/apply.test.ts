import { createHash } from 'node:crypto';
import { canonicalJson } from '#domain/kernel/json.ts';
import { commandId, eventId, groupId, refusalId, scriptId } from '#domain/testing/ids.ts';
import { at, beginning, recordAll } from '#domain/testing/recorded.ts';
import { recordRefusal } from '#domain/testing/samples.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestReads, rowsAfter, type TestReads } from '../testing/delivery.ts';
import { auditProjection } from './apply.ts';
import { noHash } from './entries.ts';
import type { AuditTable } from './table.ts';

let reads: TestReads;
beforeAll(async () => {
  reads = await openTestReads();
});
afterAll(() => reads.close());

const odd = 'a "quoted" \\ back\u0001slash, 🔑 and \u2028';
const history = recordAll([
  ...beginning,
  { type: 'SaveFile', scriptId: scriptId(), path: 'main.py', sha256: 'b'.repeat(64), sizeBytes: 3 },
  {
    type: 'ChangeScript',
    scriptId: scriptId(),
    groupId: groupId(2),
    settings: { maxConcurrentRuns: 2 },
  },
  recordRefusal(),
  recordRefusal({ refusalId: refusalId(2), operation: odd, resource: null, count: 7 }),
]);

async function entriesAfter(batches: Parameters<typeof rowsAfter>[2]) {
  const { audit = [] } = await rowsAfter(reads.db, [auditProjection], batches);
  return (audit as readonly AuditTable[]).toSorted((one, other) => one.audit_seq - other.audit_seq);
}

/** Computes the hash as defined in docs/audit.md. */
function hashOf(entry: AuditTable): string {
  const { event_position: _, group_id: _group, caused_by: _cause, hash: _hash, ...hashed } = entry;
  return createHash('sha256').update(canonicalJson(hashed)).digest('hex');
}

describe('accepted and refused commands', () => {
  test('have one audit entry each', async () => {
    const entries = await entriesAfter([await history]);
    expect(entries).toHaveLength(7);
    expect(entries[0]).toMatchObject({
      audit_seq: 1,
      event_id: eventId(1),
      event_position: 1,
      time: at(1),
      actor: 'ada@example.com',
      action: 'group_created',
      resource: `group-${groupId()}`,
      outcome: 'accepted',
      ip: '192.0.2.1',
      correlation_id: commandId(1),
      causation_id: null,
      prev_hash: noHash,
    });
    expect(entries.slice(3, 5)).toMatchObject([
      { action: 'file_saved', detail: 'main.py' },
      { action: 'script_changed', detail: 'group_id, max_concurrent_runs' },
    ]);
    expect(entries.slice(5)).toMatchObject([
      { outcome: 'refused', resource: `script-${scriptId()}`, detail: 'forbidden' },
      {
        outcome: 'refused',
        action: odd,
        resource: `refusal-${refusalId(2)}`,
        detail: 'forbidden (7 times)',
      },
    ]);
  });

  test('have entries in the group to which their script belonged at the time', async () => {
    const entries = await entriesAfter([await history]);
    const [first, second] = [groupId(1), groupId(2)];
    const groups = [first, second, first, first, second, second, null];
    expect(entries.map((entry) => entry.group_id)).toEqual(groups);
  });

  test('have entries that are chained by hashes', async () => {
    const entries = await entriesAfter([await history]);
    expect(entries.map(hashOf)).toEqual(entries.map((entry) => entry.hash));
    const before = [noHash, ...entries.map((entry) => entry.hash)].slice(0, -1);
    expect(entries.map((entry) => entry.prev_hash)).toEqual(before);
  });

  test('have events that are hashed as lines of text', async () => {
    const [event] = await history;
    const stored = await sql<{ data: string; metadata: string }>`
      SELECT ${JSON.stringify(event?.data)}::jsonb::text AS data,
        ${JSON.stringify(event?.metadata)}::jsonb::text AS metadata`.execute(reads.db);
    const { data, metadata } = stored.rows[0] ?? {};
    const envelope = [event?.streamId, 1, event?.eventId, 'GroupCreated', 1];
    const lines = [...envelope, '2026-01-01T00:00:01.000Z', data, metadata];
    const [entry] = await entriesAfter([await history]);
    expect(entry?.event_hash).toBe(createHash('sha256').update(lines.join('\n')).digest('hex'));
  });

  test('result in the same chain even if events are delivered twice', async () => {
    const events = await history;
    const whole = await entriesAfter([events]);
    expect(await entriesAfter([events.slice(0, 2), events.slice(0, 5), events])).toEqual(whole);
  });

  test('result in the same time and position ranges with any batch size', async () => {
    const events = await history;
    const parts = [events.slice(0, 4), events.slice(4)];
    const { audit_spans: spans } = await rowsAfter(reads.db, [auditProjection], parts);
    const span = { span: 0, first_position: 1, last_position: 7 };
    expect(spans).toEqual([{ ...span, first_time: at(1), last_time: at(7) }]);
  });
});
