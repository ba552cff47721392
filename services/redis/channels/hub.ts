/** Delivers messages to subscribers. As in Redis, disconnected clients miss messages. After reconnecting, clients read
 *  the stored state. */
import type { Bus } from '#domain/ports/bus.ts';
import { parseScriptId } from '#domain/kernel/ids.ts';
import type { Right } from '#domain/kernel/rights.ts';
import { errorGroupsOf } from '#projections/error-groups/queries.ts';
import type { ReadModels } from '#projections/projection.ts';
import { findScriptGroups } from '#projections/scripts/queries.ts';
import type { Logger } from '#services/shared/logger.ts';
import { isIn, may, type Caller, type Callers, type Credential } from '../callers.ts';
import type { Connection } from '../connection.ts';
import { globMatches } from '../resp/glob.ts';
import { push } from '../resp/replies.ts';

/** The channels, each with the right that it requires. */
export const channels = {
  'script.updated': 'scripts.list',
  'script.completed': 'runs.read',
  'scheduler:reload': 'schedules.read',
} as const satisfies Record<string, Right>;

export type Channel = keyof typeof channels;

export function isChannel(name: string): name is Channel {
  return Object.hasOwn(channels, name);
}

/** The maximum number of pending messages. Beyond this limit, the oldest message is dropped. */
const maxWaiting = 10_000;

interface Message {
  readonly channel: Channel;
  /** Only callers that can see this script receive the message. If undefined, all callers receive the message. */
  readonly scriptId: string | undefined;
  readonly body: object;
  /** The ID of the run, if it failed with an error. The message then names the error group too. */
  readonly failedRunId: string | undefined;
}

interface WrittenMessage extends Pick<Message, 'channel' | 'scriptId'> {
  readonly text: string;
}

export interface HubDeps {
  readonly bus: Bus;
  readonly reads: ReadModels;
  readonly callers: Callers;
  readonly connections: () => Iterable<Connection>;
  readonly logger: Logger;
}

export class Hub {
  readonly #deps: HubDeps;
  readonly #unsubscribe: readonly (() => void)[];
  #waiting: Message[] = [];
  #telling: Promise<void> | undefined;

  constructor(deps: HubDeps) {
    this.#deps = deps;
    const { bus } = deps;
    this.#unsubscribe = [
      bus.subscribe('script-updated', ({ scriptId, version, position, time }) =>
        this.#note('script.updated', scriptId, { script_id: scriptId, version, position, time }),
      ),
      bus.subscribe('script-completed', ({ scriptId, runId, errorType, ...run }) =>
        this.#note(
          'script.completed',
          scriptId,
          {
            script_id: scriptId,
            run_id: runId,
            status: run.status,
            exit_code: run.exitCode,
            error_type: errorType ?? null,
            error_group_id: null,
            position: run.position,
          },
          errorType === undefined ? undefined : runId,
        ),
      ),
      bus.subscribe('reload', ({ scriptId, scheduleId, position }) =>
        this.#note('scheduler:reload', scriptId, {
          script_id: scriptId,
          schedule_id: scheduleId,
          position,
        }),
      ),
    ];
  }

  /** Counts this process's connections that receive the messages of a channel. */
  listeners(channel: string): number {
    return [...this.#deps.connections()].filter((one) => hears(one, channel)).length;
  }

  /** Counts this process's connections that are subscribed to a channel by its name. Subscriptions by pattern are not
   *  counted. */
  subscribers(channel: string): number {
    return this.#sessions().filter(({ channels: own }) => own.has(channel)).length;
  }

  /** Counts the distinct patterns to which this process's connections are subscribed. */
  patterns(): number {
    return new Set(this.#sessions().flatMap(({ patterns }) => [...patterns])).size;
  }

  #sessions() {
    return [...this.#deps.connections()].map(({ session }) => session);
  }

  /** Delivers pending messages and stops. Calling it again has no effect. */
  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    await this.#telling;
  }

  #note(channel: Channel, scriptId: string | undefined, body: object, failedRunId?: string): void {
    if (this.listeners(channel) === 0) return;
    if (this.#waiting.length >= maxWaiting) this.#waiting.shift();
    this.#waiting.push({ channel, scriptId, body, failedRunId });
    this.#telling ??= this.#sendToAll().finally(() => (this.#telling = undefined));
  }

  async #sendToAll(): Promise<void> {
    const { logger } = this.#deps;
    while (this.#waiting.length > 0) {
      const messages = this.#waiting;
      this.#waiting = [];
      try {
        await this.#send(await this.#written(messages));
      } catch (error) {
        logger.warn({ error, lost: messages.length }, 'subscribers were not notified');
      }
    }
  }

  async #written(messages: readonly Message[]): Promise<readonly WrittenMessage[]> {
    const failed = messages.flatMap(({ failedRunId }) => failedRunId ?? []);
    const groups = await errorGroupsOf(this.#deps.reads, failed);
    return messages.map(({ channel, scriptId, body, failedRunId = '' }) => {
      const group = groups.get(failedRunId);
      const all = group === undefined ? body : { ...body, error_group_id: group.errorGroupId };
      return { channel, scriptId, text: JSON.stringify(all) };
    });
  }

  async #send(messages: readonly WrittenMessage[]): Promise<void> {
    const subscribers = [...this.#deps.connections()].filter((connection) =>
      messages.some(({ channel }) => hears(connection, channel)),
    );
    const isNarrowed = subscribers.some(({ session }) => session.credential?.kind === 'token');
    const groups = isNarrowed ? await this.#groupsOf(messages) : new Map<string, string>();
    for (const connection of subscribers) {
      // Checks access immediately before sending, so that revocations take effect.
      const { credential } = connection.session;
      const caller = credential && (await this.#deps.callers.callerOf(credential));
      if (credential === undefined || caller === undefined) connection.close();
      else sendTo(connection, caller, credential, messages, groups);
    }
  }

  async #groupsOf(messages: readonly WrittenMessage[]): Promise<ReadonlyMap<string, string>> {
    const ids = new Set(messages.flatMap(({ scriptId }) => parseScriptId(scriptId ?? '') ?? []));
    return await findScriptGroups(this.#deps.reads, [...ids]);
  }
}

function sendTo(
  connection: Connection,
  caller: Caller,
  credential: Credential,
  messages: readonly WrittenMessage[],
  groups: ReadonlyMap<string, string>,
): void {
  const { session } = connection;
  for (const { channel, scriptId, text } of messages) {
    if (!may(caller, channels[channel])) continue;
    if (credential.kind === 'token' && scriptId !== undefined) {
      const group = groups.get(scriptId);
      if (group === undefined || !isIn(caller, group)) continue;
    }
    if (session.channels.has(channel)) connection.push(push('message', channel, text));
    for (const pattern of session.patterns) {
      if (globMatches(pattern, channel)) {
        connection.push(push('pmessage', Buffer.from(pattern, 'latin1'), channel, text));
      }
    }
  }
}

function hears({ session }: Connection, channel: string): boolean {
  return (
    session.channels.has(channel) ||
    [...session.patterns].some((pattern) => globMatches(pattern, channel))
  );
}
