/** The types of deliveries: one notification through one channel. */
import type { ChannelKind } from '#domain/channel/channel.ts';
import type { ChangeId, GroupId, RunId, ScriptId } from '#domain/kernel/ids.ts';
import type { NotifiableEvent } from '#domain/notification/notification.ts';
import type { NoticeLevel } from '#domain/notice/events.ts';

/** The content of the notification. */
export interface NotificationContent {
  /** `test`: a user sent a test notification. */
  readonly on: NotifiableEvent | 'test';
  readonly level: NoticeLevel;
  readonly message: string;
  /** When the event happened; RFC 3339. */
  readonly at: string;
  /** `null` if the notification belongs to no script. */
  readonly script: {
    readonly scriptId: ScriptId;
    readonly name: string;
    readonly groupId: GroupId;
  } | null;
  /** The group, for a notification that belongs to a group and to no script. */
  readonly groupId?: GroupId;
  readonly runId: RunId | null;
  /** The requested change that the notification is about. */
  readonly changeId?: ChangeId;
  /** Identifies the condition that begins or ends, such as the failures of a script. Notifications about its
   *  beginning and its end have the same value. Absent if the notification is about a single event. */
  readonly about?: string;
  /** Set if the condition has ended; absent if the condition begins or continues. */
  readonly clears?: true;
}

/** The outcome of one attempt. */
export type AttemptResult =
  | { readonly kind: 'sent' }
  | {
      readonly kind: 'failed';
      /** A message without secrets. */
      readonly error: string;
      /** Whether a retry would fail in the same way. */
      readonly final: boolean;
      /** The delay that the receiver requested (`Retry-After`). */
      readonly retryAfterSeconds: number | null;
    };

const [minute, hour] = [60, 3600];
/** Retries span three days, because receivers of webhooks may be down over a weekend (Standard Webhooks). */
const webhookPauses = [5, minute, 5 * minute, 30 * minute, 2, 5, 10, 14, 20, 20].map(
  (pause, index) => (index < 4 ? pause : pause * hour),
);
const pauses = [10, minute, 5 * minute, 30 * minute, 2 * hour, 6 * hour];
const maxRetryAfter = 6 * hour;

/** Seconds from the end of an attempt to the next one; `undefined` if no attempt follows.
 *  @param attempt from 1 */
export function pauseAfter(
  kind: ChannelKind,
  attempt: number,
  retryAfterSeconds: number | null,
): number | undefined {
  const pause = (kind === 'webhook' ? webhookPauses : pauses)[attempt - 1];
  if (pause === undefined) return undefined;
  return Math.max(pause, Math.min(retryAfterSeconds ?? 0, maxRetryAfter));
}
