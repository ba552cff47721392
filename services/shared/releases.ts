/** The folder of releases: the active release and the requested one. The processes that an update stops and starts
 *  coordinate through these files. Each file is replaced atomically, so that a crash leaves either the old or the new
 *  file. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { UpdateKind } from '#domain/update/update.ts';

/** A release on this machine. */
export interface Installed {
  readonly version: string;
  /** Absolute path; contains `services/minimal/main.ts`. */
  readonly folder: string;
}

/** The active release since the last update, and the previous one. */
export interface Active extends Installed {
  readonly previous: Installed;
}

/** Whether a release contains migrations that the other one does not know and therefore refuses. */
export function bringsMigrations(to: Installed, from: Installed): boolean {
  const known = migrationsIn(from);
  return migrationsIn(to).some((name) => !known.includes(name));
}

function migrationsIn({ folder }: Installed): readonly string[] {
  const at = join(folder, 'migrations');
  return existsSync(at) ? readdirSync(at).filter((name) => name.endsWith('.sql')) : [];
}

/** A requested or started switch. */
export interface Switch {
  readonly updateId: string;
  readonly kind: UpdateKind;
  readonly from: Installed;
  readonly to: Installed;
  /** The other release was started. After a crash the guard returns to the previous release. */
  readonly isTried: boolean;
  /** The other release was healthy. After a crash the guard keeps it. */
  readonly isWell?: boolean;
  /** A rollback that replaces the database with the stored copy. */
  readonly restores?: {
    /** The copy was made just before this update, and still records it as unfinished. */
    readonly updateId: string;
    /** Recorded as the reason why that update was rolled back. */
    readonly reason: string;
  };
  /** The copy of the database for this switch. */
  readonly copied?: Pick<KeptCopy, 'folder' | 'madeAt' | 'sizeBytes'>;
  /** The challenge for the self-check. The new release responds with the output of a run in `self-check.json`. */
  readonly challenge?: string;
}

/** The database from before an update, for its rollback. */
export interface KeptCopy {
  readonly updateId: string;
  /** The release whose database was copied. */
  readonly of: Installed;
  /** Absolute path of the copy. */
  readonly folder: string;
  /** RFC 3339. Later events are lost by the rollback. */
  readonly madeAt: string;
  /** RFC 3339. */
  readonly expiresAt: string;
  readonly sizeBytes: number;
}

/** The result of the self-check of a release on trial, from its backend. */
export interface SelfCheck {
  readonly updateId: string;
  /** Status of the run for the challenge. */
  readonly status: 'queued' | 'running' | 'success' | 'failed' | 'stopped';
  /** The output of the run. */
  readonly answer: string | null;
  /** The reason for its failure. */
  readonly failure: string | null;
  /** Counts of other runs since then; `sandboxErrors` counts the ended runs that failed with a sandbox error. */
  readonly others: {
    readonly started: number;
    readonly ended: number;
    readonly sandboxErrors: number;
  };
}

/** The expected output of a self-check run. */
export function answerTo(challenge: string): string {
  return createHash('sha256').update(challenge).digest('hex');
}

/** The outcome of a switch, which the backend records. */
export interface Outcome {
  readonly updateId: string;
  readonly kind: 'succeeded' | 'rolled_back';
  /** The reason for the rollback. */
  readonly reason: string;
}

interface Files {
  readonly active: Active;
  readonly switch: Switch;
  readonly outcome: Outcome;
  readonly copy: KeptCopy;
  readonly 'self-check': SelfCheck;
}

/** @param folder of the data */
export class Releases {
  readonly folder: string;

  constructor(dataDir: string) {
    this.folder = join(dataDir, 'releases');
  }

  /** The folder of a version, which may not exist yet. */
  folderOf(version: string): string {
    return join(this.folder, version);
  }

  /** Creates the folder. Idempotent. Programs in it are read by the users that scripts run as. */
  make(): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o755 });
  }

  read<Name extends keyof Files>(name: Name): Files[Name] | undefined {
    try {
      return JSON.parse(readFileSync(this.#path(name), 'utf8')) as Files[Name];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new Error(`${this.#path(name)} cannot be read`, { cause: error });
    }
  }

  write<Name extends keyof Files>(name: Name, value: Files[Name]): void {
    this.make();
    const part = `${this.#path(name)}.part`;
    writeFileSync(part, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true });
    renameSync(part, this.#path(name));
  }

  remove(name: keyof Files): void {
    rmSync(this.#path(name), { force: true });
  }

  /** Removes unpacked and downloaded releases except the active and the previous one. */
  prune(own: Installed): void {
    const active = this.read('active');
    const kept = [own.folder, active?.folder, active?.previous.folder];
    for (const entry of readdirSync(this.folder, { withFileTypes: true })) {
      const path = join(this.folder, entry.name);
      if (entry.isDirectory() && !kept.includes(path)) rmSync(path, { recursive: true });
    }
  }

  #path(name: string): string {
    return join(this.folder, `${name}.json`);
  }
}
