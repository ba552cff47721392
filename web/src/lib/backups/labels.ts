import type { Backup } from '#lib/api/types.ts';
import { byteSize } from '#lib/ui/format.ts';

export const backupKinds: Record<Backup['kind'], string> = {
  manual: 'Manual',
  scheduled: 'Scheduled',
  before_update: 'Before update',
};

export const never = 'never';
/** The selection's value for a custom schedule. */
export const other = 'other';

/** Preset backup schedules, each with its value in the selection. */
export const presets: readonly { readonly value: string; readonly label: string }[] = [
  { value: never, label: 'Manual only' },
  { value: '0 3 * * *', label: 'Every night at 03:00' },
  { value: '0 3 * * 0', label: 'Every Sunday at 03:00' },
  { value: '0 */6 * * *', label: 'Every six hours' },
  { value: other, label: 'Custom cron expression' },
];

/** Returns the preset that matches a cron expression. */
export function presetOf(cron: string | null): string {
  if (cron === null) return never;
  return presets.some(({ value }) => value === cron) ? cron : other;
}

/** The progress of a backup that is being created, verified or restored, such as "38%". */
export function describeProgress({ progress }: Pick<Backup, 'progress'>): string {
  return `${Math.floor((progress ?? 0) * 100)}%`;
}

/** Summarizes a backup, such as "4,700 events, 12.4 MiB". The text is empty until the backup is complete. */
export function describeContent({ events, size_bytes: size }: Backup): string {
  if (events === null || size === null) return '';
  return `${events.toLocaleString('en')} ${events === 1 ? 'event' : 'events'}, ${byteSize(size)}`;
}
