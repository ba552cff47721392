/** Opens the resources that are needed by every process with access to the platform's data. */
import type { Bus } from '#domain/ports/bus.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { EventFeed } from '#domain/ports/event-feed.ts';
import type { Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import { PostgresBus } from '#infra/bus/postgres.ts';
import type { StreamId } from '#domain/kernel/event.ts';
import { announcements } from '#infra/postgres/commands/announcements.ts';
import { CommandPipeline } from '#infra/postgres/commands/command-pipeline.ts';
import type { KnownStreams } from '#infra/postgres/commands/known-streams.ts';
import { refuseOutdatedRows } from '#infra/postgres/rebuild/projection-versions.ts';
import { openDatabase, queryBuilder, type Database } from '#infra/postgres/database.ts';
import { readStream } from '#infra/postgres/event-store/event-store.ts';
import { refuseForeignEvents } from '#infra/postgres/readers/store-health.ts';
import { NotifyingRunLogs, type StatementFor } from '#infra/postgres/logs/notifying-run-logs.ts';
import { systemClock } from '#infra/system/clock.ts';
import { systemIds } from '#infra/system/ids.ts';
import type { ReadModels } from '#projections/projection.ts';
import { asyncProjections, inlineProjections } from '#projections/registry.ts';
import type { Tables } from '#projections/tables.ts';
import { decisionReads } from '#projections/decision-reads.ts';
import { awaitDatabase } from '#infra/postgres/await-database.ts';
import { DatabaseClock } from './database-clock.ts';
import { isDatabaseAway } from '#infra/postgres/database-away.ts';
import type { platformSettings, Settings } from './config.ts';
import type { Logger } from './logger.ts';
import { RunEnds } from './run-ends.ts';
import { RunSpans } from './tracing/run-spans.ts';
import { openTelemetry, type Telemetry, type Tracing } from './tracing/tracing.ts';

/** The statement timeout. It cancels statements that hang, for example on a lock that is never released. */
const statementMs = 5 * 60_000;

export interface Platform {
  readonly database: Database;
  readonly reads: ReadModels;
  readonly bus: Bus;
  /** Undefined unless the bus is NATS. */
  readonly feed: EventFeed | undefined;
  readonly commands: Commands;
  /** The stores of logs, run samples, error reports and spans. */
  readonly logs: NotifyingRunLogs;
  readonly clock: DatabaseClock;
  readonly ids: Ids;
  /** Counts the finished runs that this process recorded. */
  readonly runEnds: RunEnds;
  /** Undefined if no collector is configured. */
  readonly tracing: Tracing | undefined;
  /** Exports a registry's metrics to the collector, if a collector is configured. */
  readonly exportMetrics: Telemetry['exportMetrics'];
  /** Closes all connections. Idempotent. */
  close(): Promise<void>;
}

export interface PlatformOptions extends Pick<Settings, (typeof platformSettings)[number]> {
  /** The name of the process in traces and in the database's list of connections. */
  readonly name: string;
  /** The maximum number of database connections, not counting the bus's connection. */
  readonly connections: number;
  readonly logger: Logger;
  /** Aborts waiting for an unavailable database. */
  readonly signal?: AbortSignal;
  /** The machine's clock. Default: the system clock. */
  readonly ownClock?: Clock;
  /** A cache of the streams that this process has used recently. */
  readonly known?: KnownStreams;
}

/** Connects to the bus and to the database, and waits until the database responds. If NATS is unavailable, the bus
 *  connects later.
 *  @throws if the database refuses the credentials or contains rows of other projection versions */
export async function openPlatform(options: PlatformOptions): Promise<Platform> {
  const { databaseUrl, known, logger, signal } = options;
  await awaitDatabase(databaseUrl, {
    signal,
    passes: isDatabaseAway,
    onAway: (tried, { message }) =>
      logger.warn({ tried, reason: message }, 'the database does not respond; retrying'),
  });
  const database = openDatabase(databaseUrl, {
    connections: options.connections,
    applicationName: options.name,
    statementMs,
    onIdleError: (error) => logger.warn({ error }, 'database connection lost'),
  });
  const { pool } = database;
  // Clears the cache, because the new server may lack the previous server's last events after a failover.
  pool.on('connect', () => known?.clear());
  await refuseWrongState(pool).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  const clock = new DatabaseClock({
    database: pool,
    url: databaseUrl,
    own: options.ownClock ?? systemClock,
    name: options.name,
    maxDifferenceSeconds: options.maxClockDifferenceSeconds,
    logger,
  });
  await clock
    .read()
    .catch((error: unknown) => logger.warn({ error }, 'the database clock could not be read'));
  const unfollow = clock.follow();
  const { bus, feed, statementFor, close: closeBus } = await openBus(options, pool);
  const telemetry = await openTelemetry(options.name, options, logger);
  const tracing = telemetry?.tracing;
  const read = (streamId: StreamId) => readStream(pool, streamId, 1);
  const runSpans = tracing && new RunSpans({ tracing, read, logger });
  const runEnds = new RunEnds(pool);
  const commands = new CommandPipeline({
    pool,
    clock,
    ids: systemIds,
    projections: inlineProjections,
    decisionReads,
    announce: (events) => {
      bus.publish(...announcements(events));
      runSpans?.recorded(events);
      runEnds.recorded(events);
    },
    known,
  });
  return {
    database,
    reads: queryBuilder<Tables>(pool),
    bus,
    feed,
    commands,
    logs: new NotifyingRunLogs({ pool, bus, statementFor }),
    clock,
    ids: systemIds,
    runEnds,
    tracing,
    exportMetrics: (registry) => telemetry?.exportMetrics(registry),
    close: async () => {
      await unfollow();
      await runSpans?.settle();
      await telemetry?.close();
      await closeBus();
      await database.close();
    },
  };
}

async function openBus(options: PlatformOptions, pool: Database['pool']) {
  const { databaseUrl, logger, natsUrl, natsCredentials, natsPrefix: prefix } = options;
  const onError = (error: unknown) => logger.warn({ error }, 'message bus interrupted');
  if (natsUrl === undefined) {
    const bus = await PostgresBus.open({ url: databaseUrl, pool, onError });
    const statementFor: StatementFor = (messages, proof) => bus.statementFor(messages, proof);
    return { bus, feed: undefined, statementFor, close: () => bus.close() };
  }
  // Imports the client, which needs 5 MB of memory, only if NATS is used.
  const [{ NatsLink }, { NatsBus }, { NatsFeed }] = await Promise.all([
    import('#infra/bus/nats-link.ts'),
    import('#infra/bus/nats.ts'),
    import('#infra/bus/nats-feed.ts'),
  ]);
  const tried = natsUrl.map(({ protocol, host }) => `${protocol}//${host}`).join(', ');
  const onProblem = (error: unknown, problem: string) =>
    logger.warn({ error, problem, tried }, 'message bus unavailable; falling back to polling');
  const link = await NatsLink.open({
    servers: natsUrl,
    credentials: natsCredentials,
    onProblem,
    onRecovery: () => logger.info('message bus connected again'),
  });
  const bus = new NatsBus({ link, prefix, onError });
  const close = async () => {
    await bus.close();
    await link.close();
  };
  const feed = new NatsFeed({ link, prefix, onProblem });
  return { bus, feed, statementFor: undefined, close };
}

/** Refuses to start if this version cannot use the stored events or read models. */
async function refuseWrongState(pool: Database['pool']): Promise<void> {
  await refuseForeignEvents(pool);
  await refuseOutdatedRows(pool, [...inlineProjections, ...asyncProjections]);
}
