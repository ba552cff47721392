/** Tests the feed with a real NATS server and a real event store. */
import { createGroup, createScript, createUser, createWebhook } from '#domain/testing/samples.ts';
import { groupId, scriptId, userId } from '#domain/testing/ids.ts';
import type { EventFeed } from '#domain/ports/event-feed.ts';
import { setCheckpoint } from '#infra/postgres/readers/checkpoints.ts';
import { startOfStore, type StreamId } from '#domain/kernel/event.ts';
import { newEvent } from '#infra/conformance/event-store.ts';
import { inTransaction, type Queryable } from '#infra/postgres/database.ts';
import { appendEvents, readAll } from '#infra/postgres/event-store/event-store.ts';
import { Feeder, feederName, forgetFeeder } from '#infra/postgres/readers/feeder.ts';
import { natsService, TestNatsServer } from '#infra/testing/nats-server.ts';
import { eventsVisible, openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { NatsFeed } from './nats-feed.ts';
import { NatsLink } from './nats-link.ts';

const { signal } = new AbortController();
let platform: TestPlatform;
let server: TestNatsServer;
const links: NatsLink[] = [];
const problems: string[] = [];
let turn = 0;

describeWith(natsService, 'the event feed on NATS', () => {
  beforeAll(async () => {
    platform = await openTestPlatform();
    server = await TestNatsServer.start();
    await platform.accepted(createGroup());
  });
  afterEach(async () => {
    for (const link of links.splice(0)) await link.close();
    problems.length = 0;
    await forgetFeeder(platform.pool);
  });
  afterAll(async () => {
    await server.stop();
    await platform.close();
  });

  test('publishes each event once and in order when two processes publish at the same time', async () => {
    const [one, other] = [await openFeed(), await openFeed()];
    const feeders = [await feederOf(one), await feederOf(other)];
    const recorded = await record(210);
    await Promise.all(feeders.map(untilFed));
    await Promise.all(feeders.map(untilFed));
    expect(await kept(one)).toEqual(recorded);
  });

  test('publishes events in store order, even if concurrent writers commit out of order', async () => {
    const feed = await openFeed();
    const feeder = await feederOf(feed);
    const streams = ['test-early', 'test-late'] as const;
    const append = (db: Queryable, streamId: StreamId, version: number) =>
      appendEvents(
        db,
        [{ streamId, expectedVersion: version, events: [newEvent('Happened', {})] }],
        new Date(0),
      );
    // The transaction that starts first gets the last position.
    await inTransaction(platform.pool, async (early) => {
      await early.query('SELECT pg_current_xact_id()');
      await append(platform.pool, streams[1], 0);
      await append(early, streams[0], 0);
    });
    await append(platform.pool, streams[1], 1);
    await eventsVisible(platform.pool);
    await untilFed(feeder);

    type Message = { stream_id: string; version: number; position: number };
    const messages = (await keptMessages(feed)).map((message) => message.json<Message>());
    expect(messages.map(({ stream_id, version }) => `${stream_id} ${version}`)).toEqual([
      'test-early 1',
      'test-late 1',
      'test-late 2',
    ]);
    const [first, second] = messages.map(({ position }) => position);
    expect(first).toBe(second! + 1);
    const stored = await readAll(platform.pool, startOfStore, 100_000);
    const ofTest = stored.filter(({ streamId }) =>
      (streams as readonly string[]).includes(streamId),
    );
    expect(ofTest.map(({ position }) => position.globalPosition)).toEqual(
      messages.map(({ position }) => position),
    );
  });

  test('publishes no event twice after a crash before the checkpoint', async () => {
    const feed = await openFeed();
    await untilFed(await feederOf(feed));
    const before = await record(5);
    await untilFed(await feederOf(feed));
    await setCheckpoint(platform.pool, feederName, 1, startOfStore);
    const after = await record(3);
    await untilFed(await feederOf(feed));
    expect(await kept(feed)).toEqual([...before, ...after]);
  });

  test('continues with new events after a server failure that lost all data', async () => {
    const feed = await openFeed();
    const feeder = await feederOf(feed);
    await record(2);
    await untilFed(feeder);
    await server.kill();
    await vi.waitFor(() => expect(feed.problem).toBe('NATS cannot be reached'));
    const meanwhile = await record(4);
    expect(await feeder.runOnce(signal)).toBe(false);
    await server.wipe();
    await server.restart();
    await vi.waitFor(() => expect(feed.problem).toBeUndefined(), 20_000);
    await untilFed(feeder);
    expect(await kept(feed)).toEqual(meanwhile);
  });

  test('continues with new events after the stream was purged', async () => {
    const feed = await openFeed();
    const feeder = await feederOf(feed);
    await record(3);
    await untilFed(feeder);
    await (await jetstreamManager(feed.connection())).streams.purge(feed.stream);
    const after = await record(1);
    await untilFed(feeder);
    expect(await kept(feed)).toEqual(after);
  });

  test('omits the data of events about users and credentials', async () => {
    const feed = await openFeed();
    const feeder = await feederOf(feed);
    await platform.accepted(createUser({ userId: userId(), email: 'eve@example.com' }));
    await platform.accepted(createScript({ scriptId: scriptId(9), groupId: groupId() }));
    await platform.accepted(createWebhook({ scriptId: scriptId(9) }));
    await eventsVisible(platform.pool);
    await untilFed(feeder);
    const messages = await keptMessages(feed);
    expect(messages.map(({ subject }) => subject)).toEqual([
      `${feed.prefix}.feed.user.UserCreated`,
      `${feed.prefix}.feed.script.ScriptCreated`,
      `${feed.prefix}.feed.webhook.WebhookCreated`,
    ]);
    const bodies = messages.map((message) => message.json<{ type: string; data?: unknown }>());
    expect(bodies.map(({ data }) => data !== undefined)).toEqual([false, true, false]);
    expect(bodies[1]).toMatchObject({ type: 'ScriptCreated', stream_id: `script-${scriptId(9)}` });
  });

  test('reports a server without JetStream, and publishes all events once it is enabled', async () => {
    const plain = await TestNatsServer.start({ jetstream: false });
    const feed = await openFeed(plain.url);
    const feeder = await feederOf(feed);
    await record(1);
    expect(await feeder.runOnce(signal)).toBe(false);
    expect(await feeder.runOnce(signal)).toBe(false);
    expect(feed.problem).toMatch(/the event feed is waiting: jetstream is not enabled/);
    expect(problems).toEqual([feed.problem]);
    await plain.stop();
  });
});

interface TestFeed extends EventFeed {
  readonly prefix: string;
  readonly stream: string;
  connection(): NatsConnection;
}

/** Opens a new feed for the test, or the same feed again. */
async function openFeed(url = server.url): Promise<TestFeed> {
  if (links.length === 0) turn += 1;
  const prefix = `feed${turn}`;
  const link = await NatsLink.open({
    servers: [new URL(url)],
    credentials: undefined,
    onProblem: () => undefined,
    onRecovery: () => undefined,
  });
  links.push(link);
  const onProblem = (_error: unknown, problem: string) => problems.push(problem);
  const feed = new NatsFeed({ link, prefix, onProblem });
  return Object.assign(feed, {
    prefix,
    stream: `${prefix}-events`,
    connection: () => link.connection!,
  });
}

async function feederOf(feed: EventFeed): Promise<Feeder> {
  await eventsVisible(platform.pool);
  return await Feeder.open(platform.pool, feed);
}

async function untilFed(feeder: Feeder): Promise<void> {
  while (await feeder.runOnce(signal));
}

let names = 0;
/** Records this many events. @returns the events' IDs in order */
async function record(count: number): Promise<string[]> {
  const ids: string[] = [];
  const base = (names += 1) * 1000;
  for (let number = 0; number < count; number += 1) {
    const [event] = await platform.accepted(
      createScript({ scriptId: scriptId(base + number), groupId: groupId() }),
    );
    ids.push(event!.eventId);
  }
  await eventsVisible(platform.pool);
  return ids;
}

async function kept(feed: TestFeed): Promise<string[]> {
  return (await keptMessages(feed)).map(({ header }) => header.get('Nats-Msg-Id'));
}

async function keptMessages({ connection, stream }: TestFeed) {
  const { streams } = await jetstreamManager(connection());
  const { state } = await streams.info(stream);
  const messages = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
    const message = await streams.getMessage(stream, { seq });
    if (message !== null) messages.push(message);
  }
  return messages;
}
