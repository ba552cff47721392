/** Assembles the Redis adapter, which serves the supported commands on one port. */
import type { Bus } from '#domain/ports/bus.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import { PostgresRunLogs } from '#infra/postgres/logs/run-logs.ts';
import { PostgresRunQueue } from '#infra/postgres/queue/run-queue.ts';
import { batched } from '#projections/batched.ts';
import type { ReadModels } from '#projections/projection.ts';
import { findLiveTokens } from '#projections/tokens/queries.ts';
import type { Logger } from '#services/shared/logger.ts';
import { ParameterSchemas } from '#services/shared/parameter-schemas/parameter-schemas.ts';
import { RefusalRecorder } from '#services/shared/refusals.ts';
import { TokenUses } from '#services/shared/token-uses.ts';
import type pg from 'pg';
import { Callers } from './callers.ts';
import type { Command } from './command.ts';
import { channelCommands } from './commands/channels.ts';
import { clientCommands } from './commands/client.ts';
import { commandCommand } from './commands/command.ts';
import { pushCommands } from './commands/push.ts';
import { keyCommands } from './commands/keys.ts';
import { pubsubCommand } from './commands/pubsub.ts';
import { signInCommands } from './commands/sign-in.ts';
import { streamInfoCommand } from './commands/stream-info.ts';
import { streamCommands } from './commands/streams.ts';
import { popCommands } from './commands/pop.ts';
import { transactionCommands } from './commands/transaction.ts';
import { Hub } from './channels/hub.ts';
import { dispatch } from './dispatch.ts';
import { JobDispatcher } from './jobs/dispatcher.ts';
import { Leases } from './jobs/leases.ts';
import { LeasedLogs } from './logs/leased-logs.ts';
import { Refusals } from './refusals.ts';
import { RedisServer, defaultOptions, type ServerOptions } from './server.ts';

const schemaTimeoutMs = 2_000;

export interface AdapterDeps {
  readonly commands: Commands;
  readonly reads: ReadModels;
  readonly pool: pg.Pool;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  /** Grants access to all commands without a token; `undefined` makes tokens mandatory. */
  readonly password: string | undefined;
  /** The duration of a job's lease, unless the client renews it. */
  readonly leaseSeconds: number;
  readonly options?: ServerOptions;
}

export interface Adapter {
  /** Starts listening. @returns the port @throws if the port is in use */
  listen(port: number, host: string): Promise<number>;
  /** Closes all connections and waits for their pending work. Calling it again has no effect. */
  close(): Promise<void>;
}

export function createAdapter(deps: AdapterDeps): Adapter {
  const { reads, pool, bus, clock, ids, logger, password, leaseSeconds } = deps;
  const tokenUses = new TokenUses({ database: pool, clock, logger });
  const recorder = new RefusalRecorder(deps);
  const refusals = new Refusals(recorder, ids);
  const findToken = batched(async (hashes: readonly string[]) => {
    const tokens = await findLiveTokens(reads, hashes, clock.now());
    return new Map(tokens.map((token) => [token.token_hash, token]));
  });
  const callers = new Callers({ password, findToken, tokenUses });
  const parameterSchemas = new ParameterSchemas(schemaTimeoutMs);
  const queue = new PostgresRunQueue(pool);
  const leases = new Leases({
    queue,
    commands: deps.commands,
    database: pool,
    clock,
    ids,
    leaseSeconds,
  });
  const dispatcher = new JobDispatcher({ leases, callers, bus, logger });
  const hub = new Hub({ bus, reads, callers, connections: () => server.connections, logger });
  const shared = { ...deps, database: pool, refusals, leases, parameterSchemas, dispatcher, hub };
  const runLogs = new PostgresRunLogs(pool);
  let port = 0;
  const commands: ReadonlyMap<string, Command> = byName([
    ...signInCommands({ callers, refusals }),
    ...clientCommands({
      now: () => clock.now(),
      startedAt: clock.now(),
      connectedClients: () => server.connections.size,
      port: () => port,
    }),
    commandCommand(() => commands),
    ...pushCommands(shared),
    ...popCommands(shared),
    ...transactionCommands(),
    ...keyCommands(shared),
    ...channelCommands(shared),
    pubsubCommand(shared),
    streamInfoCommand({ reads, runLogs }),
    ...streamCommands({
      ...shared,
      runLogs,
      leasedLogs: new LeasedLogs({ pool, bus, clock }),
    }),
  ]);
  const server = new RedisServer(
    {
      clock,
      logger,
      execute: (request, connection) =>
        dispatch(request, connection, { commands, callers, refusals, logger }),
    },
    deps.options ?? defaultOptions,
  );
  return {
    listen: async (wanted, host) => (port = await server.listen(wanted, host)),
    close: async () => {
      await Promise.all([server.close(), dispatcher.close(), hub.close()]);
      await Promise.all([recorder.close(), tokenUses.close(), parameterSchemas.close()]);
    },
  };
}

function byName(commands: readonly Command[]): ReadonlyMap<string, Command> {
  return new Map(commands.map((command) => [command.name, command]));
}
