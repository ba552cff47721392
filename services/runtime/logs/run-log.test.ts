import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { LogWriter } from './log-writer.ts';
import { createRunLog } from './run-log.ts';
import { ManualTimers, MemoryStore } from './testing/memory-store.ts';

function given(limitBytes: number | null = null) {
  const store = new MemoryStore();
  const timers = new ManualTimers();
  const writer = new LogWriter({
    runId: 'r1',
    limitBytes,
    store,
    clock: { now: () => new Date(0) },
    timers,
    onRetry: () => undefined,
  });
  return { store, timers, log: createRunLog(writer, { timers }) };
}

const textsOf = (store: MemoryStore) => store.items.map((item) => `${item.stream}: ${item.text}`);

describe('the log of a run', () => {
  test('stores lines from the process and the platform in order', async () => {
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

  test('ends with its limit and original size if it was truncated', async () => {
    const { log, store } = given(2_000);
    for (let line = 0; line < 1_000; line += 1)
      await log.write('stdout', Buffer.from('ten bytes\n'));
    await log.close();
    expect(textsOf(store).at(-1)).toBe(
      'system: log limit of 2000 bytes exceeded: 10000 bytes written; the middle was removed',
    );
  });

  test('stores a progress bar at its start, every five seconds, and at its end', async () => {
    const { log, store, timers } = given();
    const waited: number[] = [];
    const statesPerFlush = 50;
    // Writes output like tqdm: a carriage return before each state, and a single line ending at the end.
    for (let state = 0; state <= 200; state += 1) {
      await log.write(
        'stderr',
        Buffer.from(`\r${state / 2}%|${'█'.repeat(state / 10)}| ${state}/200`),
      );
      if (state % statesPerFlush !== 0) continue;
      waited.push(...timers.delaysMs.filter((delayMs) => delayMs >= 100));
      timers.fire();
      timers.fire();
      await setImmediate();
    }
    await log.write('stderr', Buffer.from('\n'));
    await log.write('stdout', Buffer.from('done\r\n'));
    expect(await log.close()).toMatchObject({ lines: 6 });
    expect(textsOf(store).map((text) => text.replaceAll('█', ''))).toEqual([
      'stderr: 0%|| 0/200',
      'stderr: 25%|| 50/200',
      'stderr: 50%|| 100/200',
      'stderr: 75%|| 150/200',
      'stderr: 100%|| 200/200',
      'stdout: done',
    ]);
    expect(new Set(waited)).toEqual(new Set([100, 5_000]));
  });

  test('stores a prompt without a line ending after a short wait', async () => {
    const { log, store, timers } = given();
    await log.write('stdout', Buffer.from('name? '));
    expect(timers.delaysMs).toEqual([100]);
    timers.fire();
    timers.fire();
    await setImmediate();
    expect(textsOf(store)).toEqual(['stdout: name? ']);
    await log.close();
    expect(timers.waiting.size).toBe(0);
  });

  test('does not split a line if the rest arrives exactly when the wait ends', async () => {
    const { log, store, timers } = given();
    await log.write('stdout', Buffer.from('one ha'));
    timers.fire();
    await log.write('stdout', Buffer.from('lf\n'));
    await log.close();
    expect(textsOf(store)).toEqual(['stdout: one half']);
  });

  test('does not flush a partial line while reading is paused', async () => {
    const { log, store, timers } = given();
    const bytes = Buffer.from(`${'x'.repeat(60_000)}\n`.repeat(30) + 'cut');
    const writing = log.write('stdout', bytes);
    expect(timers.delaysMs).not.toContain(100);
    await writing;
    await log.write('stdout', Buffer.from(' off\n'));
    await log.close();
    expect(textsOf(store).at(-1)).toBe('stdout: cut off');
  });

  test('waits once for the rest of a line, and again for the rest of the next line', async () => {
    const { log, timers } = given();
    await log.write('stdout', Buffer.from('a'));
    const [first] = timers.waiting;
    await log.write('stdout', Buffer.from('b'));
    expect([...timers.waiting]).toEqual([first]);
    await log.write('stdout', Buffer.from('c\nd'));
    expect([...timers.waiting]).not.toContain(first);
    await log.close();
  });

  test('stores output that is not valid text', async () => {
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

  test('masks escaped and colored secrets at the ends of both output streams', async () => {
    const { log } = given();
    log.mask(['tüp"el pass']);
    const message = JSON.stringify('key t\u00FCp"el pass').replace('ü', String.raw`\u00fc`);
    await log.write('stdout', Buffer.from(`{"level": "error", "message": ${message}}\n`));
    await log.write('stderr', Buffer.from('t\u00FCp"el\u001B[1m pass\u001B[0m\n'));
    await log.close();
    expect(log.outputText()).toMatch(/^ERROR: key \*\*\*\n/);
    expect(log.errorText()).toBe('***');
  });
});
