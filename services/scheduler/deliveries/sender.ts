/** Sends notifications. One scheduler leases each attempt and records its result. If the scheduler crashes before
 *  recording the result, the delivery may be sent again with the same ID. */
import type { AttemptResult, NotificationContent } from '#domain/delivery/delivery.ts';
import { headlineOf } from '#domain/run/error/error.ts';
import { isStorable } from '#domain/kernel/json.ts';
import {
  deriveTimeOrderedId,
  mustParse,
  parseChannelId,
  parseDeliveryId,
  parseNoticeId,
} from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import { systemContext, type CommandContext, type Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { Targets } from '#infra/outgoing/targets.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { readReports } from '#infra/postgres/logs/run-reports.ts';
import { claimDeliveries, type DueDelivery } from '#infra/postgres/queue/delivery-leases.ts';
import { UnreadableSecret } from '#infra/secrets/envelope.ts';
import type { Vault } from '#infra/secrets/vault.ts';
import { findChannel } from '#projections/channels/queries.ts';
import type { ChannelsTable } from '#projections/channels/table.ts';
import { errorGroupsOf } from '#projections/error-groups/queries.ts';
import type { ReadModels } from '#projections/projection.ts';
import {
  openChannel,
  withoutSecrets,
  type ChannelSecrets,
} from '#services/shared/channel-secrets.ts';
import type { Logger } from '#services/shared/logger.ts';
import type { MessageContent } from './messages.ts';
import { send } from './send.ts';

const leaseMs = 60_000;
const attemptMs = 20_000;
const perChannel = 4;
const maxConcurrent = 40;
const maxErrorCharacters = 300;

export interface SenderDeps {
  readonly database: Queryable;
  readonly reads: ReadModels;
  readonly commands: Commands;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly targets: Targets;
  /** The base URL of links to the dashboard. */
  readonly publicUrl?: string | undefined;
  readonly logger: Pick<Logger, 'error'>;
}

/** Events that always appear in the inbox of the script's group, even without a matching rule. */
const postedAnyway: ReadonlySet<NotificationContent['on']> = new Set([
  'failed',
  'message',
  'secret_rotation_due',
  'approval_requested',
]);

export class DeliverySender {
  readonly #deps: SenderDeps;
  readonly #stopping = new AbortController();
  /** The attempts in progress, each with its channel ID. */
  readonly #sending = new Map<Promise<void>, string>();

  constructor(deps: SenderDeps) {
    this.#deps = deps;
  }

  /** Starts due deliveries up to the maximum number of concurrent attempts. @param onEnd called after each attempt */
  async runOnce(onEnd: () => void = () => undefined): Promise<void> {
    const { database, clock } = this.#deps;
    const limit = maxConcurrent - this.#sending.size;
    if (limit <= 0) return;
    const now = clock.now();
    const until = new Date(now.getTime() + leaseMs);
    const busy = [...new Set(this.#sending.values())];
    const due = await claimDeliveries<NotificationContent>(database, {
      now,
      until,
      perChannel,
      limit,
      busy,
    });
    for (const delivery of due) {
      const work = this.#deliver(delivery).finally(() => {
        this.#sending.delete(work);
        onEnd();
      });
      this.#sending.set(work, delivery.channel_id);
    }
  }

  /** Resolves when no attempt is in progress. */
  async settle(): Promise<void> {
    await Promise.all(this.#sending.keys());
  }

  /** Aborts the attempts in progress, which are repeated after their leases expire. Calling it again has no effect. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.settle();
  }

  async #deliver(delivery: DueDelivery<NotificationContent>): Promise<void> {
    try {
      const result = await this.#attempt(delivery);
      if (!this.#stopping.signal.aborted) await this.#record(delivery, result);
    } catch (error) {
      // The delivery is attempted again after its lease has expired.
      const { delivery_id: deliveryId } = delivery;
      this.#deps.logger.error({ error, deliveryId }, 'delivery was not recorded');
    }
  }

  async #attempt(delivery: DueDelivery<NotificationContent>): Promise<AttemptResult | 'gone'> {
    const { reads, vault } = this.#deps;
    const channel = await findChannel(reads, mustParse(parseChannelId, delivery.channel_id));
    if (channel === undefined) return failed('The channel was deleted.', true);
    if (!channel.enabled) return failed('The channel is disabled.', true);
    try {
      const secrets = await openChannel(vault, channel.channel_id, channel.sealed);
      return await this.#send(delivery, channel, secrets);
    } catch (error) {
      if (error instanceof UnreadableSecret) {
        return failed("The channel's credentials cannot be decrypted. Enter them again.", true);
      }
      throw error;
    }
  }

  async #send(
    { delivery_id: deliveryId, told }: DueDelivery<NotificationContent>,
    { config }: ChannelsTable,
    secrets: ChannelSecrets,
  ): Promise<AttemptResult | 'gone'> {
    const { clock, targets, publicUrl } = this.#deps;
    if (config.kind === 'in_app') return await this.#postNotice(deliveryId, told, config.groupId);
    const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(attemptMs)]);
    const now = clock.now();
    const result = await send({
      deliveryId,
      config,
      secrets,
      told: await withError(told, this.#deps),
      now,
      publicUrl,
      targets,
      signal,
    }).catch((error: unknown) => failed(reasonOf(error)));
    if (result === 'gone' || result.kind === 'sent') return result;
    return { ...result, error: shown(withoutSecrets(result.error, secrets)) };
  }

  async #postNotice(
    deliveryId: string,
    { on, level, message, script, groupId: ofGroup, runId, at }: NotificationContent,
    wanted: NonNullable<NotificationContent['script']>['groupId'] | null,
  ): Promise<AttemptResult> {
    const own = script?.groupId ?? ofGroup;
    if (own === undefined || on === 'test')
      return failed('The channel has nothing to deliver.', true);
    const groupId = wanted ?? own;
    // The inbox of the script's own group already contains this notification.
    if (groupId === own && postedAnyway.has(on)) return { kind: 'sent' };
    const id = this.#deps.ids.derived(deliveryId, 'notice');
    const noticeId = mustParse(parseNoticeId, deriveTimeOrderedId(id, new Date(at)));
    const scriptId = script?.scriptId ?? null;
    const notice = { noticeId, runId, scriptId, groupId, on, level, message } as const;
    await this.#deps.commands.execute(
      { type: 'PostNotice', ...notice },
      this.#context(deliveryId, 'notice'),
    );
    return { kind: 'sent' };
  }

  async #record(
    { delivery_id: id, channel_id, attempts }: DueDelivery<NotificationContent>,
    outcome: AttemptResult | 'gone',
  ): Promise<void> {
    const { commands, clock } = this.#deps;
    const attempt = attempts + 1;
    const isGone = outcome === 'gone';
    const result = isGone
      ? failed('The receiver returned 410 (gone), so the channel was disabled.', true)
      : outcome;
    const deliveryId = mustParse(parseDeliveryId, id);
    const at = clock.now().toISOString();
    if (isGone) {
      const channelId = mustParse(parseChannelId, channel_id);
      await commands.execute(
        { type: 'ChangeChannel', channelId, enabled: false },
        this.#context(id, 'gone'),
      );
    }
    await commands.execute(
      { type: 'RecordAttempt', deliveryId, attempt, at, result },
      this.#context(id, `attempt ${attempt}`),
    );
  }

  #context(deliveryId: string, name: string): CommandContext {
    return systemContext('scheduler', this.#deps.ids.derived(deliveryId, name), deliveryId);
  }
}

function failed(error: string, final = false): AttemptResult {
  return { kind: 'failed', error, final, retryAfterSeconds: null };
}

/** Returns the reason for a failure: the message of the error itself, without its causes. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError')
    return `The receiver did not finish its response within ${attemptMs / 1000} s`;
  return error.message === '' ? error.name : error.message;
}

function shown(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim().slice(0, maxErrorCharacters);
  return isStorable(line) ? line : line.toWellFormed().replaceAll('\0', '');
}

/** Adds the run's error to the notification. Error texts are stored outside the events, so that a purge can remove
 *  them. */
async function withError(
  content: NotificationContent,
  { database, reads }: Pick<SenderDeps, 'database' | 'reads'>,
): Promise<MessageContent> {
  const { runId, on } = content;
  const isFailure = on === 'failed' || on === 'failed_n_times' || on.startsWith('error_');
  if (runId === null || !isFailure) return { ...content, error: null, errorGroupId: null };
  const [reports, groups] = await Promise.all([
    readReports(database, [runId]),
    errorGroupsOf(reads, [runId]),
  ]);
  const error = reports.get(runId)?.error ?? null;
  const message = (error && headlineOf(error)) ?? content.message;
  return { ...content, message, error, errorGroupId: groups.get(runId)?.errorGroupId ?? null };
}
