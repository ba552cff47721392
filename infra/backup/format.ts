/** The format of a backup, as described in docs/backup.md. */
import type { BackupKind } from '#domain/backup/backup.ts';
import { damaged } from './damaged.ts';
import type { ListedPart } from './parts.ts';

/** Incremented when a format change would break earlier versions of the program. */
export const backupFormat = 2;
/** The first format whose backups are sealed. */
export const sealedFormat = 2;

export const formatMember = 'format.json';
export const manifestMember = 'manifest.json';

/** The archive's first member. It describes how to read the other members. */
export interface FormatDescription {
  readonly format: number;
  readonly backupId: string;
  readonly kind: BackupKind;
  /** RFC 3339. */
  readonly createdAt: string;
  /** The version of the program that created the backup. */
  readonly version: string;
  /** The migrations that created the schema of the rows. */
  readonly migrations: readonly { readonly name: string; readonly sha256: string }[];
}

/** The archive's last member, which contains the totals. */
export interface Manifest {
  /** Global position of the last event. */
  readonly position: number;
  readonly events: number;
  /** The number of events that each reaction has processed. */
  readonly readers: readonly {
    readonly name: string;
    readonly version: number;
    readonly seen: number;
  }[];
  readonly tables: readonly {
    readonly name: string;
    readonly columns: readonly string[];
    readonly rows: number;
  }[];
  readonly objects: number;
  readonly objectBytes: number;
  /** Only in unsealed backups: the number of preceding members, and the SHA-256 of their checksum lines. */
  readonly members?: number;
  readonly digest?: string;
}

/** The sealed manifest of a backup (`backup.json`). It describes the backup and lists the other parts. */
export interface BackupSummary extends Pick<Manifest, 'position' | 'events'> {
  readonly format: number;
  readonly backupId: string;
  readonly kind: BackupKind;
  readonly version: string;
  readonly createdAt: string;
  readonly finishedAt: string;
  /** The size of the stored archive. */
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly encrypted: boolean;
  /** Absent in unsealed backups. */
  readonly parts?: readonly ListedPart[];
  /**
   * Null if a destroyed key was removed while the master key was unavailable, because the backup could not be resealed.
   */
  readonly seal?: Seal | null;
}

/** Proves that the manifest was written with the master key. */
export interface Seal {
  /** Identifies the master key without revealing the key. */
  readonly key: string;
  /** HMAC-SHA-256 of the manifest without this seal, in lower-case hex. */
  readonly mac: string;
}

/** A data key as stored: wrapped by the master key and encoded in base64. */
export interface WrappedKey {
  readonly key_id: string;
  readonly script_id: string;
  readonly master_key_id: string;
  readonly wrapped_key: string;
  readonly created_at: string;
}

/** @throws DamagedBackup if the text is not JSON */
export function parseJson<Value>(bytes: Uint8Array, name: string): Value {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as Value;
  } catch (cause) {
    throw damaged(name, 'it is not JSON', cause);
  }
}

/** Serializes a small part as indented JSON. */
export function jsonBytes(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
}

/** One line of a `checksums/…` member in an unsealed backup. */
export function checksumLine(name: string, sha256: string): string {
  return `${sha256}  ${name}\n`;
}
