/** The types of deliveries. A delivery sends one notification through one channel. */
import type { ChannelKind } from '#domain/channel/channel.ts';
import type { ChangeId, GroupId, RunId, ScriptId } from '#domain/kernel/ids.ts';
import type { NotifiableEvent } from '#domain/notification/notification.ts';
import type { NoticeLevel } from '#domain/notice/events.ts';

/** The content of the notification. */
export interface NotificationContent {
  /** The event that caused the notification. `test` means that a user sent a test notification. */
  readonly on: NotifiableEvent | 'test';
  readonly level: NoticeLevel;
  readonly message: string;
  /** When the event happened (RFC 3339). */
  readonly at: string;
  /** `null` if the notification is not about a script. */
  readonly script: {
    readonly scriptId: ScriptId;
    readonly name: string;
    readonly groupId: GroupId;
  } | null;
  /** The group, if the notification is about a group but not about a script. */
  readonly groupId?: GroupId;
  readonly runId: RunId | null;
  /** The requested change that the notification is about. */
  readonly changeId?: ChangeId;
  /** Identifies the condition that begins or ends, such as repeated failures of a script. The notifications about
   *  its beginning and its end share this value. Absent if the notification is about a single event. */
  readonly about?: string;
  /** Set if the notification reports the end of a condition. */
  readonly clears?: true;
}

/** The result of one delivery attempt. */
export type AttemptResult =
  | { readonly kind: 'sent' }
  | {
      readonly kind: 'failed';
      /** The error message, without secrets. */
      readonly error: string;
      /** Whether a retry would fail with the same error. */
      readonly final: boolean;
      /** The delay that the receiver requested in `Retry-After`. */
      readonly retryAfterSeconds: number | null;
    };

const [minute, hour] = [60, 3600];
/** Webhook retries span three days, because a receiver may be down over a weekend (Standard Webhooks). */
const webhookPauses = [5, minute, 5 * minute, 30 * minute, 2, 5, 10, 14, 20, 20].map(
  (pause, index) => (index < 4 ? pause : pause * hour),
);
const pauses = [10, minute, 5 * minute, 30 * minute, 2 * hour, 6 * hour];
const maxRetryAfter = 6 * hour;

/** Returns the seconds between the end of an attempt and the next attempt, or `undefined` if no attempt follows.
 *  @param attempt the number of the failed attempt, starting at 1 */
export function pauseAfter(
  kind: ChannelKind,
  attempt: number,
  retryAfterSeconds: number | null,
): number | undefined {
  const pause = (kind === 'webhook' ? webhookPauses : pauses)[attempt - 1];
  if (pause === undefined) return undefined;
  return Math.max(pause, Math.min(retryAfterSeconds ?? 0, maxRetryAfter));
}
