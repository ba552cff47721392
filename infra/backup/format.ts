/** What is in a backup: docs/backup.md tells it to people. */
import type { BackupKind } from '#domain/backup/backup.ts';
import { damaged } from './damaged.ts';
import type { ListedPart } from './parts.ts';

/** Raised when an older program could not read what a newer one writes. */
export const backupFormat = 2;
/** The first format whose backups are sealed. */
export const sealedFormat = 2;

export const formatMember = 'format.json';
export const manifestMember = 'manifest.json';

/** The first member: who can read the rest. */
export interface FormatDescription {
  readonly format: number;
  readonly backupId: string;
  readonly kind: BackupKind;
  /** RFC 3339. */
  readonly createdAt: string;
  /** Of the program that made it. */
  readonly version: string;
  /** The schema that its rows are of, by the migrations that had made it. */
  readonly migrations: readonly { readonly name: string; readonly sha256: string }[];
}

/** The last member: how much there is. */
export interface Manifest {
  /** Global position of the last event. */
  readonly position: number;
  readonly events: number;
  /** How many events each reaction has seen. */
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
  /** In backups without a seal: how many members come before this one, and the SHA-256 of their checksum lines. */
  readonly members?: number;
  readonly digest?: string;
}

/** The sealed manifest of a backup, `backup.json`: what the backup is, and every other part of it. */
export interface BackupSummary extends Pick<Manifest, 'position' | 'events'> {
  readonly format: number;
  readonly backupId: string;
  readonly kind: BackupKind;
  readonly version: string;
  readonly createdAt: string;
  readonly finishedAt: string;
  /** Of the archive as it is stored. */
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
  /** Names the master key without telling anything of it. */
  readonly key: string;
  /** HMAC-SHA-256 of the manifest without this seal, in lower-case hex. */
  readonly mac: string;
}

/** A data key as it is stored: wrapped by the master key, in base64. */
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

/** What a small part holds. */
export function jsonBytes(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
}

/** A line of the members `checksums/…` of backups without a seal. */
export function checksumLine(name: string, sha256: string): string {
  return `${sha256}  ${name}\n`;
}
