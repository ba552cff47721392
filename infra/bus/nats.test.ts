import { natsService, TestNatsServer, type TestNatsOptions } from '#infra/testing/nats-server.ts';
import type { Bus, BusMessage } from '#domain/ports/bus.ts';
import { connect } from '@nats-io/transport-node';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { busConformance } from '../conformance/bus.ts';
import { NatsBus } from './nats.ts';
import { NatsLink } from './nats-link.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(closeAll);

async function closeAll() {
  for (const close of closing.splice(0).toReversed()) await close();
}

interface Ends {
  readonly bus: NatsBus;
  readonly link: NatsLink;
  readonly problems: string[];
  readonly errors: unknown[];
}

async function open(url: string, credentials?: string): Promise<Ends> {
  const problems: string[] = [];
  const errors: unknown[] = [];
  const link = await NatsLink.open({
    servers: url.split(',').map((text) => new URL(text)),
    credentials,
    onProblem: (_error, problem) => problems.push(problem),
    onRecovery: () => problems.push('recovered'),
  });
  const bus = new NatsBus({ link, prefix: 'test', onError: (error) => errors.push(error) });
  closing.push(async () => {
    await bus.close();
    await link.close();
  });
  return { bus, link, problems, errors };
}

async function startServer(options?: TestNatsOptions): Promise<TestNatsServer> {
  const server = await TestNatsServer.start(options);
  closing.push(() => server.stop());
  return server;
}

/** Repeats a message until the other process receives it. */
async function untilHeard(from: Bus, to: Bus): Promise<void> {
  const heard: BusMessage[] = [];
  const stop = to.subscribe('status', (message) => heard.push(message));
  await vi.waitFor(
    () => {
      from.publish({ topic: 'status', runId: 'r' });
      expect(heard).not.toEqual([]);
    },
    { timeout: 20_000, interval: 20 },
  );
  stop();
}

describeWith(natsService, 'the bus on NATS', () => {
  let ends: readonly NatsLink[] = [];
  let server: TestNatsServer;
  afterAll(async () => {
    for (const link of ends) await link.close();
    await server.stop();
  });

  busConformance('on NATS', async () => {
    server = await TestNatsServer.start();
    const [one, other] = [await open(server.url), await open(server.url)];
    ends = [one.link, other.link];
    closing.length = 0;
    return [one.bus, other.bus];
  });

  describe('the bus on NATS, when its server becomes unavailable,', () => {
    test(
      'reconnects publishers and subscribers after a restart, and wakes the subscribers',
      { timeout: 60_000 },
      async () => {
        const own = await startServer();
        const [one, other] = [await open(own.url), await open(own.url)];
        await untilHeard(one.bus, other.bus);
        const looks: string[] = [];
        other.bus.subscribe('events', () => looks.push('events'));
        other.bus.subscribe('queue', () => looks.push('queue'));
        await own.kill();
        await vi.waitFor(() => expect(other.bus.problem).toBe('NATS cannot be reached'));
        for (let number = 0; number < 20_000; number += 1) {
          one.bus.publish({ topic: 'status', runId: `lost ${number}` });
        }
        await own.wipe();
        await own.restart();
        await vi.waitFor(() => expect(looks).toEqual(['events', 'queue']), 20_000);
        await untilHeard(one.bus, other.bus);
        expect(other.problems).toEqual(['NATS cannot be reached', 'recovered']);
        expect(other.bus.problem).toBeUndefined();
      },
    );

    test(
      'detects a hanging server, and limits the number of pending messages',
      { timeout: 60_000 },
      async () => {
        const own = await startServer();
        const { bus, problems } = await open(own.url);
        own.signal('SIGSTOP');
        await vi.waitFor(
          () => {
            bus.publish({ topic: 'status', runId: 'r' });
            expect(problems).toEqual(['NATS cannot be reached']);
          },
          { timeout: 20_000, interval: 50 },
        );
        own.signal('SIGCONT');
        await vi.waitFor(() => expect(bus.problem).toBeUndefined(), 20_000);
      },
    );

    test('connects later to a server that is down at startup', async () => {
      const own = await startServer();
      await own.kill();
      const { bus, problems } = await open(`nats://127.0.0.1:1,${own.url}`);
      expect(bus.problem).toBe('NATS cannot be reached');
      await own.restart();
      await vi.waitFor(() => expect(problems.at(-1)).toBe('recovered'), 20_000);
    });
  });

  describe('the bus on NATS, with a server that requires credentials,', () => {
    const configuration = 'authorization { user: me, password: "a b/c" }';

    test('connects with valid credentials', async () => {
      const own = await startServer({ configuration });
      const { bus } = await open(own.url.replace('//', '//me:a%20b%2Fc@'));
      expect(bus.problem).toBeUndefined();
      await untilHeard(bus, bus);
    });

    test('reports wrong credentials', async () => {
      const own = await startServer({ configuration });
      for (const url of [own.url, own.url.replace('//', '//me:wrong@')]) {
        expect((await open(url)).bus.problem).toBe('NATS rejected the credentials');
      }
    });

    test('connects with a token in the URL', async () => {
      const own = await startServer({ configuration: 'authorization { token: secret }' });
      expect((await open(own.url.replace('//', '//secret@'))).bus.problem).toBeUndefined();
    });
  });

  test('reports messages in an unknown format and stays connected', async () => {
    const own = await startServer();
    const { bus, errors } = await open(own.url);
    const stranger = await connect({ servers: own.url });
    stranger.publish('test.hint.stop', 'not JSON');
    stranger.publish('test.hint.stop', 'null');
    stranger.publish('test.hint.stop', '{"topic":"queue"}');
    await stranger.flush();
    await stranger.close();
    const failing = bus.subscribe('status', () => {
      throw new Error('a listener fails');
    });
    bus.publish({ topic: 'status', runId: 'r' });
    await vi.waitFor(() => expect(errors).toHaveLength(3));
    failing();
    await untilHeard(bus, bus);
    expect(bus.problem).toBeUndefined();
  });
});
