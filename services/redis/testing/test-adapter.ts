/** Starts the real adapter on a free port, with a test database. */
import type { Role } from '#domain/kernel/actor.ts';
import {
  mustParse,
  parseRunId,
  parseScriptId,
  parseTokenId,
  parseUserId,
} from '#domain/kernel/ids.ts';
import type { Scope } from '#domain/kernel/rights.ts';
import { commandId, groupId, scriptId } from '#domain/testing/ids.ts';
import {
  createGroup,
  createScript,
  createUser,
  issueToken,
  runScript,
} from '#domain/testing/samples.ts';
import type { CreateScript } from '#domain/script/commands.ts';
import { defaultSettings, type ScriptSettings } from '#domain/script/settings.ts';
import { MemoryBus } from '#infra/testing/memory-bus.ts';
import { announcements } from '#infra/postgres/commands/announcements.ts';
import { systemClock } from '#infra/system/clock.ts';
import { systemIds } from '#infra/system/ids.ts';
import {
  openTestPlatform,
  recordedBy,
  userContext,
  untilTrue,
  type TestPlatform,
} from '#infra/testing/platform.ts';
import type { CommandPipeline } from '#infra/postgres/commands/command-pipeline.ts';
import { newApiToken } from '#services/shared/api-tokens.ts';
import { createLogger } from '#services/shared/logger.ts';
import { createAdapter, type AdapterDeps } from '../adapter.ts';
import { RawClient } from './raw-client.ts';

export const password = 'the service password';

/** Settings that permit practically any number of concurrent runs. */
export const settings: ScriptSettings = { ...defaultSettings, maxConcurrentRuns: 1000 };

export interface TestAdapter {
  readonly port: number;
  readonly platform: TestPlatform;
  readonly bus: MemoryBus;
  /** Executes commands and publishes their events as other processes would. */
  readonly commands: CommandPipeline;
  /** The log lines that the adapter has written. */
  readonly logged: readonly string[];
  /** Opens an unauthenticated client. */
  openUnauthenticated(): Promise<RawClient>;
  /** Opens a client that has signed in with the service's password. */
  member(): Promise<RawClient>;
  /** Creates a user and an API token. @returns the token */
  token(
    scopes: readonly Scope[],
    owner?: { role?: Role; groups?: readonly number[] },
  ): Promise<string>;
  /** Queues a run. @returns its ID */
  queueRun(script?: number): Promise<string>;
  /** Disconnects all clients, and removes queued and active runs. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

let made = 0;

/** Starts an adapter with groups 1 and 2, and a script in each group. */
export async function startTestAdapter(changes: Partial<AdapterDeps> = {}): Promise<TestAdapter> {
  const platform = await openTestPlatform();
  const { pool, reads } = platform;
  const bus = new MemoryBus();
  const logged: string[] = [];
  const commands = platform.pipeline({
    clock: systemClock,
    announce: (events) => bus.publish(...announcements(events)),
  });
  for (const number of [1, 2]) {
    await platform.accepted(createGroup({ groupId: groupId(number), name: `Group ${number}` }));
    await platform.accepted(scriptOf(number));
  }
  const adapter = createAdapter({
    commands,
    reads,
    pool,
    bus,
    clock: systemClock,
    ids: systemIds,
    logger: createLogger('redis', 'info', { write: (line) => void logged.push(line) }),
    password,
    leaseSeconds: 60,
    ...changes,
  });
  const port = await adapter.listen(0, '127.0.0.1');
  const clients: RawClient[] = [];
  const openUnauthenticated = async (): Promise<RawClient> => {
    const client = await RawClient.open(port);
    clients.push(client);
    return client;
  };
  const member = async (): Promise<RawClient> => {
    const client = await openUnauthenticated();
    await client.call('AUTH', password);
    return client;
  };
  return {
    port,
    platform,
    bus,
    commands,
    logged,
    openUnauthenticated,
    member,
    token: async (scopes, { role = 'operator', groups = [1] } = {}) => {
      made += 1;
      const userId = mustParse(parseUserId, systemIds.next());
      await platform.accepted(
        createUser({
          userId,
          email: `user${made}@example.com`,
          role,
          groupIds: groups.map((number) => groupId(number)),
          credentialId: commandId(1000 + made),
        }),
      );
      const { text, hash } = newApiToken();
      const tokenId = mustParse(parseTokenId, systemIds.next());
      await platform.accepted(issueToken({ tokenId, userId, tokenHash: hash, scopes }));
      return text;
    },
    queueRun: async (script = 1) => {
      const runId = mustParse(parseRunId, systemIds.next());
      const asked = runScript({ runId, scriptId: scriptId(script) });
      recordedBy(await commands.execute(asked, userContext()));
      return runId;
    },
    clear: async () => {
      for (const client of clients.splice(0)) client.close();
      const last = await member();
      // A connection counts as connected until its pending work is done.
      await untilTrue('all others have gone', async () =>
        ((await last.call('INFO', 'clients')) as string).includes('connected_clients:1\r'),
      );
      await pool.query('DELETE FROM run_queue');
    },
    close: async () => {
      for (const client of clients) client.close();
      await adapter.close();
      await bus.close();
      await platform.close();
    },
  };
}

/** Returns a command that creates a script in the group with the same number. */
export function scriptOf(number: number, changes: Partial<CreateScript> = {}): CreateScript {
  return createScript({
    scriptId: mustParse(parseScriptId, scriptId(number)),
    groupId: groupId(number),
    settings,
    ...changes,
  });
}
