import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { LogWriter } from './log-writer.ts';
import { createRunLog } from './run-log.ts';
import { ManualTimers, MemoryStore } from './testing.ts';

function given() {
  const store = new MemoryStore();
  const timers = new ManualTimers();
  const writer = new LogWriter({
    runId: 'r1',
    limitBytes: null,
    store,
    clock: { now: () => new Date(0) },
    timers,
    publish: () => undefined,
    onRetry: () => undefined,
  });
  return { store, timers, log: createRunLog(writer, timers) };
}

const textsOf = (store: MemoryStore) => store.items.map((item) => `${item.stream}: ${item.text}`);

describe('given the log of a run', () => {
  test('lines of the process and of the platform are stored in order', async () => {
    const { log, store } = given();
    await log.system('building\r\nready');
    await log.write('stdout', Buffer.from('one\ntw'));
    await log.write('stderr', Buffer.from('three\n'));
    await log.write('stdout', Buffer.from('o\nfour'));
    expect(await log.close()).toMatchObject({ lines: 6 });
    expect(textsOf(store)).toEqual([
      'system: building',
      'system: ready',
      'stdout: one',
      'stderr: three',
      'stdout: two',
      'stdout: four',
    ]);
  });

  test('a prompt without line end is stored after a moment', async () => {
    const { log, store, timers } = given();
    await log.write('stdout', Buffer.from('name? '));
    expect(timers.delaysMs).toEqual([100]);
    timers.fire();
    await setImmediate();
    expect(textsOf(store)).toEqual(['stdout: name? ']);
    await log.close();
    expect(timers.waiting.size).toBe(0);
  });

  test('the wait begins with the partial line, not with an earlier one', async () => {
    const { log, timers } = given();
    await log.write('stdout', Buffer.from('a'));
    const [first] = timers.waiting;
    await log.write('stdout', Buffer.from('b'));
    expect([...timers.waiting]).toEqual([first]);
    await log.write('stdout', Buffer.from('c\nd'));
    expect([...timers.waiting]).not.toContain(first);
    await log.close();
  });

  test('bytes that are no text at all are stored too', async () => {
    const { log, store } = given();
    await log.write(
      'stdout',
      Uint8Array.from({ length: 256 }, (_, byte) => byte),
    );
    await log.close();
    expect(store.items).toHaveLength(2);
    expect(store.items.every((item) => !item.text.includes('\0') && item.text.isWellFormed())).toBe(
      true,
    );
  });
});
