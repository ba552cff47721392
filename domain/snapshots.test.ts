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

/** A script whose one file is saved again and again. */
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

describe('given a long stream', () => {
  test('then a snapshot is due at every so many events, wherever one begins to look', () => {
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

  test('then a large state has fewer of them', () => {
    const [first] = snapshotsAlong(scriptAggregate, { events });
    const large = first && { ...first, size: 200_000 };
    expect(places({ from: large, events: events.slice(200) })).toEqual([[]]);
  });

  test('then the state is the same with and without one', () => {
    const whole = stateAfter(scriptAggregate, { events });
    for (const from of snapshotsAlong(scriptAggregate, { events })) {
      const rest = events.slice(from.last.version);
      const kept = { ...from, state: stored(from.state) };
      expect(stateAfter(scriptAggregate, { from: kept, events: rest })).toEqual(whole);
    }
  });
});

describe('given a short stream', () => {
  test('then it has none', () => {
    expect(places(noHistory, { events: events.slice(0, snapshotEvery - 1) })).toEqual([[], []]);
    expect(places({ events: events.slice(0, snapshotEvery) })).toEqual([[snapshotEvery]]);
  });
});

test('the format tells one version of the states from another', () => {
  expect(formatOf({ stateVersion: 1 })).not.toBe(formatOf({ stateVersion: 2 }));
});
