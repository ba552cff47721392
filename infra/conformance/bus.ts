/** The contract for all message bus adapters. */
import type { Bus, BusMessage } from '#domain/ports/bus.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** @param open opens two clients of one bus, as in two processes */
export function busConformance(name: string, open: () => Promise<readonly [Bus, Bus]>): void {
  describe(`${name}: the bus`, () => {
    let here: Bus;
    let there: Bus;
    beforeAll(async () => {
      [here, there] = await open();
      await established(here, there);
    });
    afterAll(async () => {
      await here.close();
      await there.close();
      await there.close();
    });

    test('delivers a message to every process, including the sender', async () => {
      const both = Promise.all([next(here, 'status'), next(there, 'status')]);
      here.publish({ topic: 'status', runId: 'a' });
      expect(await both).toEqual([
        { topic: 'status', runId: 'a' },
        { topic: 'status', runId: 'a' },
      ]);
    });

    test('separates topics, and keeps the order within a topic', async () => {
      const seen: BusMessage[] = [];
      const stop = there.subscribe('log', (message) => seen.push(message));
      const last = next(there, 'stop');
      here.publish(log(1, '[1]'), log(2, '[2]'), { topic: 'stop', runId: 'r' });
      await last;
      stop();
      expect(seen).toEqual([log(1, '[1]'), log(2, '[2]')]);
    });

    test('delivers schedule changes with any content', async () => {
      const named = { topic: 'reload', scriptId: 's', scheduleId: 'r', position: 4 } as const;
      for (const message of [named, { topic: 'reload' } as const]) {
        const received = next(there, 'reload');
        here.publish(message);
        expect(await received).toEqual(message);
      }
    });

    test('delivers any text unchanged', async () => {
      const items = JSON.stringify([{ text: 'é\u0000\r\n\u2028😀"' }]);
      const received = next(there, 'log');
      here.publish(log(3, items));
      expect(await received).toEqual(log(3, items));
    });

    test('reports that it is healthy', () => {
      expect([here.problem, there.problem]).toEqual([undefined, undefined]);
    });

    test('delivers a large log chunk, without its items if necessary', async () => {
      const received = next(there, 'log');
      here.publish(log(7, JSON.stringify('é'.repeat(20_000))));
      expect(await received).toMatchObject({ topic: 'log', runId: 'r', firstSeq: 7, lastSeq: 7 });
    });

    test('delivers nothing after unsubscribing', async () => {
      const seen: BusMessage[] = [];
      there.subscribe('queue', (message) => seen.push(message))();
      const later = next(there, 'events');
      here.publish({ topic: 'queue' }, { topic: 'events' });
      await later;
      expect(seen).toEqual([]);
    });
  });
}

/** A subscription over a network takes effect after a delay, so messages are sent repeatedly until all topics receive
 *  one. */
async function established(here: Bus, there: Bus): Promise<void> {
  const heard = (bus: Bus, topic: 'status' | 'log', probe: string) =>
    new Promise<void>((resolve) => {
      const stop = bus.subscribe(topic, ({ runId }) => {
        if (runId !== probe) return;
        stop();
        resolve();
      });
    });
  for (let number = 0; ; number += 1) {
    const probe = `probe ${number}`;
    const all = Promise.all(
      [here, there].flatMap((bus) => [heard(bus, 'status', probe), heard(bus, 'log', probe)]),
    );
    here.publish({ topic: 'status', runId: probe }, { ...log(0, '[]'), runId: probe });
    const isHeard = await Promise.race([all.then(() => true), delay(100, false)]);
    if (isHeard) return;
  }
}

function log(seq: number, items: string): Extract<BusMessage, { topic: 'log' }> {
  return { topic: 'log', runId: 'r', firstSeq: seq, lastSeq: seq, items };
}

function next(bus: Bus, topic: BusMessage['topic']): Promise<BusMessage> {
  const { promise, resolve } = Promise.withResolvers<BusMessage>();
  const stop = bus.subscribe(topic, (message) => {
    stop();
    resolve(message);
  });
  return promise;
}
