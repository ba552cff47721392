/** The types of backups (contract §3, "Backup"). */

/** What requested the backup: a user, the backup schedule, or an update that is about to start. */
export const backupKinds = ['manual', 'scheduled', 'before_update'] as const;
export type BackupKind = (typeof backupKinds)[number];

/** The details of a completed backup. */
export interface BackupContent {
  readonly kind: BackupKind;
  /** Global position of the last event in the backup. */
  readonly position: number;
  readonly events: number;
  readonly sizeBytes: number;
  /** SHA-256 of the stored archive, in hex. */
  readonly sha256: string;
  readonly encrypted: boolean;
  /** Platform version that wrote the backup. */
  readonly version: string;
  /** RFC 3339, in UTC with milliseconds. `finishedAt` has the same format. */
  readonly createdAt: string;
  readonly finishedAt: string;
}
