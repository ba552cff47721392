/** The vocabulary of backups (contract §3, "Backup"). */

/** By hand, by the schedule, or because an update comes next. */
export const backupKinds = ['manual', 'scheduled', 'before_update'] as const;
export type BackupKind = (typeof backupKinds)[number];

/** What is known of a backup that is whole. */
export interface BackupContent {
  readonly kind: BackupKind;
  /** Global position of its last event, and how many it has. */
  readonly position: number;
  readonly events: number;
  readonly sizeBytes: number;
  /** Of the archive as it is stored, in hex. */
  readonly sha256: string;
  readonly encrypted: boolean;
  /** Of the program that made it. */
  readonly version: string;
  /** RFC 3339, in UTC with milliseconds. */
  readonly createdAt: string;
  readonly finishedAt: string;
}
