/** The folder of releases. It contains files that name the active release and a requested switch. The processes that an
 *  update stops and starts coordinate through these files. Each file is replaced atomically: after a crash, it has
 *  either the old or the new content. */
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

/** The release that has been active since the last update, and the previous release. */
export interface Active extends Installed {
  readonly previous: Installed;
}

/** Whether release `to` contains migrations that release `from` does not know. `from` cannot use the database after
 *  these. */
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
  /** Whether the other release was started. After a crash, the guard returns to the previous release. */
  readonly isTried: boolean;
  /** Whether the other release was found healthy. After a crash, the guard keeps it. */
  readonly isWell?: boolean;
  /** Present in a rollback that replaces the database with the stored copy. */
  readonly restores?: {
    /** The ID of the update. The copy was made during it, and still contains this update as unfinished. */
    readonly updateId: string;
    /** The reason for the rollback, which is then recorded for that update. */
    readonly reason: string;
  };
  /** The copy of the database for this switch. */
  readonly copied?: Pick<KeptCopy, 'folder' | 'madeAt' | 'sizeBytes'>;
  /** The challenge for the self-check. The new release responds with the output of a run in `self-check.json`. */
  readonly challenge?: string;
}

/** A copy of the database from before an update, for the update's rollback. */
export interface KeptCopy {
  readonly updateId: string;
  /** The release whose database was copied. */
  readonly of: Installed;
  /** Absolute path of the copy. */
  readonly folder: string;
  /** The time of the copy (RFC 3339). A rollback loses later events. */
  readonly madeAt: string;
  /** RFC 3339. */
  readonly expiresAt: string;
  readonly sizeBytes: number;
}

/** The self-check result of a release on trial. The release's backend writes it. */
export interface SelfCheck {
  readonly updateId: string;
  /** Status of the run for the challenge. */
  readonly status: 'queued' | 'running' | 'success' | 'failed' | 'stopped';
  /** The output of the run. */
  readonly answer: string | null;
  /** The reason for its failure. */
  readonly failure: string | null;
  /** Counts of the other runs since the start. `sandboxErrors` counts those that ended with a sandbox error. */
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

/** The outcome of a switch. The backend records it in the history. */
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

/** @param folder the data folder */
export class Releases {
  readonly folder: string;

  constructor(dataDir: string) {
    this.folder = join(dataDir, 'releases');
  }

  /** The folder for a version. It need not exist. */
  folderOf(version: string): string {
    return join(this.folder, version);
  }

  /** Creates the folder. Idempotent. Other users can read it, because scripts run as other users and execute programs
   *  in it. */
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
