/** The event store, commands and projections on a test database, for tests that execute commands. */
import type { Command, Recorded } from '#domain/aggregates.ts';
import { mustParse, parseCommandId } from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { CommandContext, Outcome } from '#domain/ports/commands.ts';
import { userId } from '#domain/testing/ids.ts';
import {
  CommandPipeline,
  type CommandPipelineDeps,
} from '#infra/postgres/commands/command-pipeline.ts';
import { inTransaction, openDatabase, queryBuilder } from '#infra/postgres/database.ts';
import { systemIds } from '#infra/system/ids.ts';
import type { ReadModels } from '#projections/projection.ts';
import { inlineProjections } from '#projections/registry.ts';
import type { Tables } from '#projections/tables.ts';
import { decisionReads } from '#projections/decision-reads.ts';
import { lockStreams } from '#infra/postgres/commands/command-batch.ts';
import type pg from 'pg';
import { vi } from 'vitest';
import { createTestDatabase } from './database.ts';

export interface TestPlatform {
  /** Connections with the privileges of the services, which cannot change the schema or the events. */
  readonly pool: pg.Pool;
  /** The URL that `pool` connects to. */
  readonly serviceUrl: string;
  /** The URL for the schema's owner. */
  readonly adminUrl: string;
  readonly reads: ReadModels;
  readonly commands: CommandPipeline;
  /** The announced events, grouped by call. */
  readonly announced: (readonly Recorded[])[];
  /** Creates another pipeline on the same database. */
  pipeline(parts: Partial<CommandPipelineDeps>): CommandPipeline;
  /** Executes a command that must be accepted. @returns the recorded events */
  accepted(command: Command, context?: Partial<CommandContext>): Promise<readonly Recorded[]>;
  /** Starts commands one after another while a transaction holds their lock. Commits the transaction when all commands
   *  are waiting for the lock, in the order in which they started. */
  whileHeld(
    hold: (client: pg.PoolClient) => Promise<unknown>,
    start: readonly (() => Promise<Outcome>)[],
  ): Promise<Outcome[]>;
  close(): Promise<void>;
}

export async function openTestPlatform(): Promise<TestPlatform> {
  const { serviceUrl, adminUrl, drop } = await createTestDatabase();
  const { pool, close } = openDatabase(serviceUrl, {
    connections: 20,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
  const announced: (readonly Recorded[])[] = [];
  const usual: CommandPipelineDeps = {
    pool,
    clock: tickingClock(),
    ids: systemIds,
    projections: inlineProjections,
    decisionReads,
    announce: (events) => announced.push(events),
  };
  const commands = new CommandPipeline(usual);
  return {
    pool,
    serviceUrl,
    adminUrl,
    reads: queryBuilder<Tables>(pool),
    commands,
    announced,
    pipeline: (parts) => new CommandPipeline({ ...usual, ...parts }),
    accepted: async (command, context) =>
      recordedBy(await commands.execute(command, userContext(context))),
    whileHeld: (hold, start) => whileHeld(pool, hold, start),
    close: async () => {
      await close();
      await drop();
    },
  };
}

/** Returns the events that an accepted command recorded. @throws Error if the command was refused */
export function recordedBy(outcome: Outcome): readonly Recorded[] {
  if (outcome.kind === 'accepted') return outcome.events;
  throw new Error(outcome.kind === 'refused' ? outcome.refusal.detail : outcome.kind);
}

/** Returns the kinds of the outcomes, or the reasons for refusals, in alphabetical order. */
export function answersOf(outcomes: readonly Outcome[]): readonly string[] {
  return outcomes.map((one) => (one.kind === 'refused' ? one.refusal.code : one.kind)).toSorted();
}

/** Returns the context of a user's command, with a new command ID. */
export function userContext(changes: Partial<CommandContext> = {}): CommandContext {
  const commandId = mustParse(parseCommandId, systemIds.next());
  return {
    commandId,
    actor: { kind: 'user', userId: userId(), email: 'ada@example.com' },
    ip: '192.0.2.1',
    correlationId: commandId,
    causationId: null,
    ...changes,
  };
}

/** A clock that starts at the beginning of 2026 and advances by one second with each read. */
export function tickingClock(): Clock {
  let nowMs = Date.UTC(2026, 0, 1);
  return { now: () => new Date((nowMs += 1000)) };
}

const hidden = `SELECT transaction_id >= pg_snapshot_xmin(pg_current_snapshot()) AS hidden
  FROM events ORDER BY transaction_id DESC LIMIT 1`;

/** Waits until readers of the event store see all events. Any open transaction on the server, such as another test's,
 *  hides later events. */
export async function eventsVisible(pool: pg.Pool): Promise<void> {
  await untilTrue('all events are visible', async () => {
    const { rows } = await pool.query<{ hidden: boolean }>(hidden);
    return rows[0]?.hidden !== true;
  });
}

/** Locks a stream, as does a command that writes to the stream or is guarded by it. */
export function streamOf(streamId: string) {
  return (client: pg.PoolClient): Promise<unknown> => client.query(lockStreams, [[streamId]]);
}

async function whileHeld(
  pool: pg.Pool,
  hold: (client: pg.PoolClient) => Promise<unknown>,
  start: readonly (() => Promise<Outcome>)[],
): Promise<Outcome[]> {
  const started: Promise<Outcome>[] = [];
  await inTransaction(pool, async (client) => {
    await hold(client);
    for (const command of start) {
      started.push(command());
      const over = Promise.race(started).then((outcome) => {
        throw new Error(`a command did not wait: ${outcome.kind}`);
      });
      await Promise.race([statementsWait(pool, started.length), over]);
    }
  });
  return await Promise.all(started);
}

const waiters = `SELECT count(*) AS waiting FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** Waits until this many statements in this database are waiting for a lock. */
async function statementsWait(pool: pg.Pool, count: number): Promise<void> {
  await untilTrue(`${count} statements wait`, async () => {
    const { rows } = await pool.query<{ waiting: number }>(waiters);
    return rows[0]?.waiting === count;
  });
}

/** Polls until the condition is true.
 *  @param what describes the condition in the failure message */
export async function untilTrue(what: string, condition: () => Promise<boolean>): Promise<void> {
  const check = async () => {
    if (!(await condition())) throw new Error(`this did not come to be: ${what}`);
  };
  // The timeout is long for the sake of slow machines. No test result depends on it.
  await vi.waitFor(check, { timeout: 120_000, interval: 20 });
}
