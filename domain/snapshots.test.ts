import { createGroup, createScript, file } from '#domain/testing/samples.ts';
import { recordAll } from '#domain/testing/recorded.ts';
import { scriptId } from '#domain/testing/ids.ts';
import { stored } from '#domain/testing/stored.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Recorded } from './aggregates.ts';
import { scriptAggregate } from './script/decide.ts';
import {
  formatOf,
  lastOf,
  noHistory,
  snapshotEvery,
  snapshotsAlong,
  stateAfter,
  versionOf,
} from './snapshots.ts';

/** A script with a single file that is saved repeatedly. */
let events: readonly Recorded[];
beforeAll(async () => {
  const saves = Array.from({ length: 2 * snapshotEvery + 50 }, (_, index) => ({
    type: 'SaveFile' as const,
    scriptId: scriptId(),
    ...file('main.py', 'ab'[index % 2]),
  }));
  const all = await recordAll([createGroup(), createScript({ files: [] }), ...saves]);
  events = all.filter(({ streamId }) => streamId.startsWith('script-'));
});

const places = (...histories: Parameters<typeof snapshotsAlong>[1][]) =>
  histories.map((one) => snapshotsAlong(scriptAggregate, one).map(({ last }) => last.version));

describe('a long stream', () => {
  test('has snapshots at regular intervals, whether the fold starts at the beginning or at a snapshot', () => {
    const [first, second] = snapshotsAlong(scriptAggregate, { events });
    expect([first?.last, second?.last]).toEqual([events[199], events[399]]);
    const later = { from: first, events: events.slice(200) };
    expect(snapshotsAlong(scriptAggregate, later)).toEqual([second]);
    expect([versionOf(later), lastOf(later)]).toEqual([events.length, events.at(-1)]);
    expect([versionOf({ from: first, events: [] }), lastOf({ from: first, events: [] })]).toEqual([
      200,
      events[199],
    ]);
  });

  test('has fewer snapshots if its state is large', () => {
    const [first] = snapshotsAlong(scriptAggregate, { events });
    const large = first && { ...first, size: 200_000 };
    expect(places({ from: large, events: events.slice(200) })).toEqual([[]]);
  });

  test('folds to the same state with and without a snapshot', () => {
    const whole = stateAfter(scriptAggregate, { events });
    for (const from of snapshotsAlong(scriptAggregate, { events })) {
      const rest = events.slice(from.last.version);
      const kept = { ...from, state: stored(from.state) };
      expect(stateAfter(scriptAggregate, { from: kept, events: rest })).toEqual(whole);
    }
  });
});

describe('a short stream', () => {
  test('has no snapshots', () => {
    expect(places(noHistory, { events: events.slice(0, snapshotEvery - 1) })).toEqual([[], []]);
    expect(places({ events: events.slice(0, snapshotEvery) })).toEqual([[snapshotEvery]]);
  });
});

test('the snapshot format differs between state versions', () => {
  expect(formatOf({ stateVersion: 1 })).not.toBe(formatOf({ stateVersion: 2 }));
});
