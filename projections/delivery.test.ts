/** Tests that every projection must pass, for any history in any batches. */
import type { Command, Recorded } from '#domain/aggregates.ts';
import { anyCommand } from '#domain/testing/arbitraries.ts';
import { beginning, recordAll } from '#domain/testing/recorded.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asyncProjections, inlineProjections } from './registry.ts';
import { calendarsProjection } from './calendars/apply.ts';
import { groupsProjection } from './groups/apply.ts';
import type { Projection } from './projection.ts';
import { rulesProjection } from './rules/apply.ts';
import { runQueueProjection } from './run-queue/apply.ts';
import { openTestReads, rowsAfter, type Rows, type TestReads } from './testing/delivery.ts';

const projections = [...inlineProjections, ...asyncProjections];
/** Projections without rows at the end of the history, because the history deletes all of them. */
const going: readonly Projection[] = [
  runQueueProjection,
  groupsProjection,
  rulesProjection,
  calendarsProjection,
];

let reads: TestReads;
beforeAll(async () => {
  reads = await openTestReads();
});
afterAll(() => reads.close());

const eventTypes = [...new Set(asyncProjections.flatMap((projection) => projection.handles))];
const anyHistory = fc.array(anyCommand, { maxLength: 40, size: 'max' });
const cuts = fc.array(fc.nat(100), { maxLength: 6 });

function inBatches(events: readonly Recorded[], at: readonly number[]): (readonly Recorded[])[] {
  const places = [0, ...at.map((cut) => Math.round((cut / 100) * events.length)), events.length];
  const ordered = places.toSorted((one, other) => one - other);
  return ordered.slice(1).map((end, index) => events.slice(ordered[index], end));
}

async function everyHistory(
  check: (events: readonly Recorded[], expected: Rows, at: readonly number[]) => Promise<void>,
): Promise<void> {
  const property = fc.asyncProperty(anyHistory, cuts, async (commands: readonly Command[], at) => {
    const events = await recordAll([...beginning, ...commands]);
    await check(events, await rowsAfter(reads.db, projections, [events]), at);
  });
  await fc.assert(property, { numRuns: 50 });
}

describe('the rows of any history', () => {
  test('are the same regardless of how events are batched', () =>
    everyHistory(async (events, expected, at) => {
      expect(await rowsAfter(reads.db, projections, inBatches(events, at))).toEqual(expected);
    }));

  test('are the same if the first batch is delivered again', () =>
    everyHistory(async (events, expected, at) => {
      const [first = [], ...rest] = inBatches(events, at);
      const again = [...inBatches(first, at), ...inBatches(first, at.slice(1)), ...rest];
      expect(await rowsAfter(reads.db, projections, again)).toEqual(expected);
    }));

  test('are the same if all events are delivered again from the start', () =>
    everyHistory(async (events, expected, at) => {
      const [first = []] = inBatches(events, at);
      const restarted = [first, ...inBatches(events, at)];
      expect(await rowsAfter(reads.db, projections, restarted)).toEqual(expected);
    }));

  test('are the same if events are delivered again late, except in tables from which rows are deleted', () =>
    everyHistory(async (events, expected, at) => {
      const lasting = projections.filter((projection) => !going.includes(projection));
      const parts = inBatches(events, at);
      const gone: readonly string[] = going.flatMap((projection) => projection.tables);
      const rows = Object.entries(expected).filter(([table]) => !gone.includes(table));
      const after = await rowsAfter(reads.db, lasting, [events, ...parts.toReversed()]);
      expect(after).toEqual(Object.fromEntries(rows));
    }));
});

test('inline projections handle every event type except the listed ones, and each table belongs to one projection', () => {
  const unread = eventTypes.filter((type) =>
    inlineProjections.every((one) => !one.handles.includes(type)),
  );
  // Refusals, disclosures and uses of secrets are only part of the audit trail. Updates are read from their event
  // history.
  const ofUpdates = /^(Update|ReleaseFound|RollbackDiscarded)/;
  expect(unread.filter((type) => !ofUpdates.test(type)).toSorted()).toEqual([
    // Notices and deliveries are created from these events.
    'AlarmCleared',
    'AlarmRaised',
    'DataDisclosed',
    'PasskeyUseRefused',
    'RequestRefused',
    'SecretsRead',
  ]);
  const tables = projections.flatMap((projection) => projection.tables);
  expect(tables).toEqual([...new Set(tables)]);
  const names = projections.map((projection) => projection.name);
  expect(names).toEqual([...new Set(names)]);
});
