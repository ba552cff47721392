/** The types of notification rules (contract §3, "Notification"). */
import type { ChannelId, GroupId, ScriptId } from '#domain/kernel/ids.ts';
import type { NotifiableEvent } from '#domain/notification/notification.ts';

/** Which events notify which channels. */
export interface RuleSettings {
  readonly name: string;
  readonly enabled: boolean;
  readonly on: readonly NotifiableEvent[];
  /** The number of consecutive failures for `failed_n_times`. */
  readonly failedTimes: number;
  /** Applies to these scripts and to the scripts of these groups; to all scripts if both lists are empty. */
  readonly scriptIds: readonly ScriptId[];
  readonly groupIds: readonly GroupId[];
  readonly channelIds: readonly ChannelId[];
}
