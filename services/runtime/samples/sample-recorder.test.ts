import type { SampleChunk, SamplePoint } from '#domain/ports/run-samples.ts';
import { describe, expect, test } from 'vitest';
import { SampleRecorder } from './sample-recorder.ts';

const sample = { cpuSeconds: 1, memoryBytes: 2, threads: 3, processes: 4 };
const now = new Date('2026-11-21T02:31:00.000Z');
const point: SamplePoint = { timeMs: now.getTime(), ...sample };

function given() {
  const seen = {
    saved: [] as (readonly SampleChunk[])[],
    published: [] as [string, SamplePoint][],
    ends: 0,
    isAway: false,
  };
  const recorder = new SampleRecorder({
    store: {
      save: (chunks) => {
        if (seen.isAway) return Promise.reject(new Error('away'));
        seen.saved.push(chunks);
        return Promise.resolve();
      },
    },
    clock: { now: () => now },
    publish: (runId, one) => seen.published.push([runId, one]),
    onEnd: () => (seen.ends += 1),
  });
  return { recorder, seen };
}

const runsOf = (chunks: readonly SampleChunk[] | undefined) => chunks?.map((chunk) => chunk.runId);

describe('the samples of several runs', () => {
  test('are published immediately, and stored in batches', async () => {
    const { recorder, seen } = given();
    const [a, b] = [recorder.open('a'), recorder.open('b')];
    a.take(sample);
    b.take(sample);
    expect(seen.published).toEqual([
      ['a', point],
      ['b', point],
    ]);
    await recorder.saveOnce();
    expect(seen.saved).toEqual([
      [
        { runId: 'a', place: 0, points: [point] },
        { runId: 'b', place: 0, points: [point] },
      ],
    ]);
  });

  test('are flushed once when a run ends', async () => {
    const { recorder, seen } = given();
    const a = recorder.open('a');
    a.take(sample);
    a.end();
    a.end();
    recorder.open('without any').end();
    expect(seen.ends).toBe(1);
    await recorder.saveOnce();
    await recorder.saveOnce();
    expect(seen.saved.map(runsOf)).toEqual([['a'], []]);
  });

  test('are all stored after the store recovers', async () => {
    const { recorder, seen } = given();
    const [a, b] = [recorder.open('a'), recorder.open('b')];
    a.take(sample);
    seen.isAway = true;
    await expect(recorder.saveOnce()).rejects.toThrow('away');
    a.end();
    b.take(sample);
    seen.isAway = false;
    await recorder.saveOnce();
    expect(runsOf(seen.saved[0])?.toSorted()).toEqual(['a', 'b']);
  });

  test('are dropped for the runs that ended first if the store stays unavailable', async () => {
    const { recorder, seen } = given();
    for (let number = 0; number < 300; number += 1) {
      const sampling = recorder.open(String(number));
      sampling.take(sample);
      sampling.end();
    }
    await recorder.saveOnce();
    expect(seen.saved[0]).toHaveLength(256);
    expect(runsOf(seen.saved[0])?.at(-1)).toBe('299');
  });
});
