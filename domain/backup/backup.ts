/** The types of backups (contract §3, "Backup"). */

/** Requested by a user, by the schedule, or by an update that is about to start. */
export const backupKinds = ['manual', 'scheduled', 'before_update'] as const;
export type BackupKind = (typeof backupKinds)[number];

/** The details of a complete backup. */
export interface BackupContent {
  readonly kind: BackupKind;
  /** Global position of the last event, and the number of events. */
  readonly position: number;
  readonly events: number;
  readonly sizeBytes: number;
  /** Hash of the stored archive, in hex. */
  readonly sha256: string;
  readonly encrypted: boolean;
  /** Version of the program that wrote the backup. */
  readonly version: string;
  /** RFC 3339, in UTC with milliseconds. */
  readonly createdAt: string;
  readonly finishedAt: string;
}
