/** What is in a backup: docs/backup.md tells it to people. */
import type { BackupKind } from '#domain/backup/backup.ts';
import { DamagedBackup } from './damaged.ts';

/** Raised when an older program could not read what a newer one writes. */
export const backupFormat = 1;

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

/** The last member: that nothing is missing. */
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
  /** How many members come before this one, and the SHA-256 of their checksum lines. */
  readonly members: number;
  readonly digest: string;
}

/** What is said of a backup beside its archive. */
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
}

/** A data key as it is stored: wrapped by the master key, in base64. */
export interface WrappedKey {
  readonly key_id: string;
  readonly script_id: string;
  readonly master_key_id: string;
  readonly wrapped_key: string;
  readonly created_at: string;
}

/** @throws DamagedBackup where it is no JSON */
export function parseJson<Value>(bytes: Uint8Array, name: string): Value {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as Value;
  } catch (cause) {
    throw new DamagedBackup(`${name} in it is damaged.`, { cause });
  }
}

/** A line of the members `checksums/…`, as `sha256sum --check` reads it. */
export function checksumLine(name: string, sha256: string): string {
  return `${sha256}  ${name}\n`;
}
