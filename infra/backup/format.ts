/** The content of a backup, as docs/backup.md describes it. */
import type { BackupKind } from '#domain/backup/backup.ts';
import { damaged } from './damaged.ts';
import type { ListedPart } from './parts.ts';

/** Incremented when older versions can no longer read the format. */
export const backupFormat = 2;
/** The first format whose backups are sealed. */
export const sealedFormat = 2;

export const formatMember = 'format.json';
export const manifestMember = 'manifest.json';

/** The first member, which describes how to read the others. */
export interface FormatDescription {
  readonly format: number;
  readonly backupId: string;
  readonly kind: BackupKind;
  /** RFC 3339. */
  readonly createdAt: string;
  /** The version of the program that made the backup. */
  readonly version: string;
  /** The schema of the rows, as the migrations that created it. */
  readonly migrations: readonly { readonly name: string; readonly sha256: string }[];
}

/** The last member: the totals. */
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
  /** In backups without a seal: the number of preceding members, and the SHA-256 of their checksum lines. */
  readonly members?: number;
  readonly digest?: string;
}

/** The sealed manifest of a backup, `backup.json`: the description of the backup, and the list of its other parts. */
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
  /** Absent in backups without a seal. */
  readonly parts?: readonly ListedPart[];
  /** Null if the master key was missing when a destroyed key was removed, so that the backup could not be sealed
   *  again. */
  readonly seal?: Seal | null;
}

/** Proves that the writer of the manifest had the master key. */
export interface Seal {
  /** Identifies the master key without revealing it. */
  readonly key: string;
  /** HMAC-SHA-256 of the manifest without this seal, in lower-case hex. */
  readonly mac: string;
}

/** A stored data key: wrapped by the master key, in base64. */
export interface WrappedKey {
  readonly key_id: string;
  readonly script_id: string;
  readonly master_key_id: string;
  readonly wrapped_key: string;
  readonly created_at: string;
}

/** @throws DamagedBackup if it is not JSON */
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

/** A line of the members `checksums/…` of backups without a seal. */
export function checksumLine(name: string, sha256: string): string {
  return `${sha256}  ${name}\n`;
}
