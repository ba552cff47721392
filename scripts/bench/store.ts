import { mustParse, parseRefusalId } from '#domain/kernel/ids.ts';
import type { StreamId } from '#domain/kernel/event.ts';
import type { EventStore } from '#domain/ports/event-store.ts';
import { recordRefusal } from '#domain/testing/samples.ts';
import { newEvent } from '#infra/conformance/event-store.ts';
import { CommandPipeline } from '#infra/postgres/commands/command-pipeline.ts';
import { PostgresEventStore } from '#infra/postgres/event-store/event-store.ts';
import { systemClock } from '#infra/system/clock.ts';
import { systemIds } from '#infra/system/ids.ts';
import { inlineProjections } from '#projections/registry.ts';
import { decisionReads } from '#projections/decision-reads.ts';
import pg from 'pg';
import { compare, perSecond } from './compare.ts';
import { context } from './context.ts';
import { onDatabase, type BenchDatabase } from './database.ts';
import { emmett, type EmmettStore } from './peers.ts';
import { findPgbench, pgbenchAppends } from './pgbench.ts';
import { row } from './report.ts';

const writers = 8;
const appendsEach = 150;
/** The number of events after which a writer starts a new stream. */
const streamLength = 10;
const rounds = 9;

/** Event data of about the same size as for a queued run. */
const data = {
  scriptId: systemIds.next(),
  scriptName: 'Report',
  trigger: { type: 'manual' },
  limits: { wall_clock_seconds: 60, memory_bytes: 268_435_456, processes: 64 },
};

type Append = (stream: string, version: number) => Promise<unknown>;

/** Measures appends of one event each, at an expected version, to streams of ten events. */
export function benchStore(): Promise<void> {
  return onDatabase(async (database) => {
    await benchEmmett(database);
    await benchFunction(database);
  });
}

async function benchEmmett(database: BenchDatabase): Promise<void> {
  const pool = new pg.Pool({ connectionString: database.adminUrl, max: writers });
  const store = (await emmett()).getPostgreSQLEventStore(database.adminUrl, {
    connectionOptions: { pool },
  });
  await store.schema.migrate();
  const own = new PostgresEventStore(database.open(writers), systemClock);
  const theirs = () => appending(writers, appendsTo(store));
  const peer = { unit: '/s', rounds, theirs };
  await compare({
    figure: `appends/s through the store, ${writers} writers / Emmett`,
    bar: '≥ 4.5',
    ours: () => appending(writers, appendTo(own)),
    ...peer,
  });
  const commands = pipelineOn(database);
  await compare({
    figure: `commands/s that append one event, ${writers} callers / Emmett`,
    bar: '–',
    ours: () => appending(writers, () => refuse(commands)),
    ...peer,
  });
  await store.close();
  await pool.end();
}

async function benchFunction(database: BenchDatabase): Promise<void> {
  const figure = 'stored-function append, 1 writer / pgbench';
  const pgbench = findPgbench();
  if (pgbench === undefined) {
    row(figure, 'not measured: pgbench is missing (postgresql-contrib)', '≥ 0.8');
    return;
  }
  const own = new PostgresEventStore(database.open(1), systemClock);
  await compare({
    figure,
    bar: '≥ 0.8',
    unit: '/s',
    rounds,
    ours: () => appending(1, appendTo(own), 600, 1),
    theirs: () => pgbenchAppends(pgbench, database.serviceUrl, newEvent('Measured', data), 600),
  });
}

/** @returns appends per second with the given number of concurrent writers, each with its own streams */
function appending(
  count: number,
  append: Append,
  each = appendsEach,
  length = streamLength,
): Promise<number> {
  return perSecond(count * each, () =>
    Promise.all(
      Array.from({ length: count }, async () => {
        let stream = '';
        for (let done = 0; done < each; done += 1) {
          const version = done % length;
          if (version === 0) stream = `measured-${systemIds.next()}`;
          await append(stream, version);
        }
      }),
    ),
  );
}

function appendTo(store: EventStore): Append {
  return (stream, expectedVersion) =>
    store.append([
      { streamId: stream as StreamId, expectedVersion, events: [newEvent('Measured', data)] },
    ]);
}

function appendsTo(store: EmmettStore): Append {
  return (stream, version) => {
    const { type, data: body, metadata } = newEvent('Measured', data);
    return store.appendToStream(stream, [{ type, data: body, metadata }], {
      expectedStreamVersion: version === 0 ? 'STREAM_DOES_NOT_EXIST' : BigInt(version),
    });
  };
}

function pipelineOn(database: BenchDatabase): CommandPipeline {
  return new CommandPipeline({
    pool: database.open(writers),
    clock: systemClock,
    ids: systemIds,
    projections: inlineProjections,
    decisionReads,
    announce: () => undefined,
  });
}

/** Executes the smallest possible command, which records one event and writes no rows of inline projections. */
function refuse(commands: CommandPipeline): Promise<unknown> {
  const refusalId = mustParse(parseRefusalId, systemIds.next());
  return commands.execute(recordRefusal({ refusalId }), context());
}
