/** The types of notification rules (contract §3, "Notification"). */
import type { ChannelId, GroupId, ScriptId } from '#domain/kernel/ids.ts';
import type { NotifiableEvent } from '#domain/notification/notification.ts';

/** The events that a rule selects, and the channels that it notifies. */
export interface RuleSettings {
  readonly name: string;
  readonly enabled: boolean;
  readonly on: readonly NotifiableEvent[];
  /** The number of consecutive failures that triggers `failed_n_times`. */
  readonly failedTimes: number;
  /** The rule applies to these scripts and to the scripts of these groups. If both lists are empty, the rule applies
   *  to all scripts. */
  readonly scriptIds: readonly ScriptId[];
  readonly groupIds: readonly GroupId[];
  readonly channelIds: readonly ChannelId[];
}
