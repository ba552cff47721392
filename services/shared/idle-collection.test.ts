import { describe, expect, test } from 'vitest';
import { createCollector } from './idle-collection.ts';

const mebibyte = 1024 * 1024;

describe('a garbage collector', () => {
  const state = { heapMb: 20, cpuMs: 100, collections: 0 };
  const collector = createCollector({
    collect: () => {
      state.collections += 1;
      state.heapMb = 15;
    },
    heapBytes: () => state.heapMb * mebibyte,
    cpuMs: () => state.cpuMs,
  });

  test('runs after startup, once the process is idle', () => {
    state.cpuMs += 501;
    collector.check();
    expect(state.collections).toBe(0);
    state.cpuMs += 10;
    collector.check();
    expect(state.collections).toBe(1);
  });

  test('does not run again before the heap has grown', () => {
    state.heapMb = 18;
    collector.check();
    expect(state.collections).toBe(1);
    state.heapMb = 19;
    collector.check();
    expect(state.collections).toBe(2);
  });

  test('does not run while the process is busy', () => {
    state.heapMb = 40;
    state.cpuMs += 2000;
    collector.check();
    expect(state.collections).toBe(2);
  });
});
