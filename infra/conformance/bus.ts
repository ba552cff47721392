/** What every adapter of the bus keeps. */
import type { Bus, BusMessage } from '#domain/ports/bus.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** @param open two ends of one bus, as two processes would have them */
export function busConformance(name: string, open: () => Promise<readonly [Bus, Bus]>): void {
  describe(`${name}: the bus`, () => {
    let here: Bus;
    let there: Bus;
    beforeAll(async () => {
      [here, there] = await open();
    });
    afterAll(async () => {
      await here.close();
      await there.close();
      await there.close();
    });

    test('carries a message to every end, the sender too', async () => {
      const both = Promise.all([next(here, 'status'), next(there, 'status')]);
      here.publish({ topic: 'status', runId: 'a' });
      expect(await both).toEqual([
        { topic: 'status', runId: 'a' },
        { topic: 'status', runId: 'a' },
      ]);
    });

    test('keeps the topics apart and the order within one', async () => {
      const seen: BusMessage[] = [];
      const stop = there.subscribe('log', (message) => seen.push(message));
      const last = next(there, 'stop');
      here.publish(log(1, '[1]'), log(2, '[2]'), { topic: 'stop', runId: 'r' });
      await last;
      stop();
      expect(seen).toEqual([log(1, '[1]'), log(2, '[2]')]);
    });

    test('carries a large log chunk, if need be without its items', async () => {
      const received = next(there, 'log');
      here.publish(log(7, JSON.stringify('é'.repeat(20_000))));
      expect(await received).toMatchObject({ topic: 'log', runId: 'r', firstSeq: 7, lastSeq: 7 });
    });

    test('an unsubscribed listener hears no more', async () => {
      const seen: BusMessage[] = [];
      there.subscribe('queue', (message) => seen.push(message))();
      const later = next(there, 'events');
      here.publish({ topic: 'queue' }, { topic: 'events' });
      await later;
      expect(seen).toEqual([]);
    });
  });
}

function log(seq: number, items: string): BusMessage {
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
