/** The vocabulary of deliveries: one thing that is told through one channel. */
import type { ChannelKind } from '#domain/channel/channel.ts';
import type { GroupId, RunId, ScriptId } from '#domain/kernel/ids.ts';
import type { Happening } from '#domain/notification/notification.ts';
import type { NoticeLevel } from '#domain/notice/events.ts';

/** What is told. */
export interface Told {
  /** `test`: somebody tries the channel. */
  readonly on: Happening | 'test';
  readonly level: NoticeLevel;
  readonly message: string;
  /** When it happened; RFC 3339. */
  readonly at: string;
  /** `null` where it is about none. */
  readonly script: {
    readonly scriptId: ScriptId;
    readonly name: string;
    readonly groupId: GroupId;
  } | null;
  readonly runId: RunId | null;
}

/** What became of one attempt. */
export type AttemptResult =
  | { readonly kind: 'sent' }
  | {
      readonly kind: 'failed';
      /** A sentence without secrets. */
      readonly error: string;
      /** Another attempt would end the same. */
      readonly final: boolean;
      /** The receiver asked to be left alone for so long. */
      readonly retryAfterSeconds: number | null;
    };

const [minute, hour] = [60, 3600];
/** Over three days, as receivers of webhooks may be away over a weekend (Standard Webhooks). */
const webhookPauses = [5, minute, 5 * minute, 30 * minute, 2, 5, 10, 14, 20, 20].map(
  (pause, index) => (index < 4 ? pause : pause * hour),
);
const pauses = [10, minute, 5 * minute, 30 * minute, 2 * hour, 6 * hour];
const mostRetryAfter = 6 * hour;

/** Seconds from the end of an attempt to the next; `undefined` where there is to be none.
 *  @param attempt from 1 */
export function pauseAfter(
  kind: ChannelKind,
  attempt: number,
  retryAfterSeconds: number | null,
): number | undefined {
  const pause = (kind === 'webhook' ? webhookPauses : pauses)[attempt - 1];
  if (pause === undefined) return undefined;
  return Math.max(pause, Math.min(retryAfterSeconds ?? 0, mostRetryAfter));
}
