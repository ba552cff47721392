import { commandId, eventId, groupId, refusalId, scriptId } from '#domain/testing/ids.ts';
import { at, beginning, recordAll } from '#domain/testing/recorded.ts';
import { recordRefusal } from '#domain/testing/samples.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestReads, rowsAfter, type TestReads } from '../testing/delivery.ts';
import { auditProjection } from './apply.ts';
import { listAudit } from './queries.ts';

let reads: TestReads;
beforeAll(async () => {
  reads = await openTestReads();
});
afterAll(() => reads.close());

const history = recordAll([
  ...beginning,
  recordRefusal(),
  recordRefusal({ refusalId: refusalId(2), resource: null, count: 7 }),
]);

describe('given what was done and what was refused', () => {
  test('then each has an entry', async () => {
    const rows = await rowsAfter(reads.db, [auditProjection], [await history]);
    expect(rows['audit']).toHaveLength(5);
    expect(rows['audit']?.[0]).toEqual({
      audit_seq: 1,
      event_id: eventId(1),
      event_position: 1,
      time: at(1),
      actor: 'ada@example.com',
      action: 'group_created',
      resource: `group-${groupId()}`,
      outcome: 'accepted',
      detail: null,
      ip: '192.0.2.1',
      correlation_id: commandId(1),
      causation_id: null,
    });
    const refused = { outcome: 'refused', action: 'POST /api/v1/scripts/{id}/run' };
    expect(rows['audit']?.slice(3)).toMatchObject([
      { ...refused, resource: `script-${scriptId()}`, detail: 'forbidden', ip: null },
      { ...refused, resource: `refusal-${refusalId(2)}`, detail: 'forbidden (7 times)' },
    ]);
  });

  test('when part of it was delivered before, then the numbers have no gap', async () => {
    const events = await history;
    const rows = await rowsAfter(reads.db, [auditProjection], [events.slice(0, 2), events]);
    const entries = rows['audit'] as readonly { audit_seq: number; event_id: string }[];
    const numbered = Object.fromEntries(entries.map((one) => [one.audit_seq, one.event_id]));
    expect(numbered).toEqual({
      1: eventId(1),
      2: eventId(2),
      3: eventId(3),
      4: eventId(4),
      5: eventId(5),
    });
  });

  test('then it is listed newest first, page by page', async () => {
    await auditProjection.apply(reads.db, await history);
    const page = async (before?: number) =>
      (await listAudit(reads.db, before, 3)).map((entry) => entry.audit_seq);
    expect(await page()).toEqual([5, 4, 3]);
    expect(await page(3)).toEqual([2, 1]);
    expect(await page(1)).toEqual([]);
  });
});
