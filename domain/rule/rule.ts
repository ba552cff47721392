/** The vocabulary of notification rules (contract §3, "Notification"). */
import type { ChannelId, GroupId, ScriptId } from '#domain/kernel/ids.ts';
import type { Happening } from '#domain/notification/notification.ts';

/** Who is told of what. */
export interface RuleSettings {
  readonly name: string;
  readonly enabled: boolean;
  readonly on: readonly Happening[];
  /** So many failures in a row are `failed_n_times`. */
  readonly failedTimes: number;
  /** Of these scripts and of those in these groups; of all where both are empty. */
  readonly scriptIds: readonly ScriptId[];
  readonly groupIds: readonly GroupId[];
  readonly channelIds: readonly ChannelId[];
}
