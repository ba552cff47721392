/** Manages the folder of releases, with files that name the active release and a requested switch. The processes that
 *  an update stops and starts coordinate through these files. Each file is replaced atomically, so after a crash it has
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

/** A release that is installed on this machine. */
export interface Installed {
  readonly version: string;
  /** The absolute path of the folder that contains `services/minimal/main.ts`. */
  readonly folder: string;
}

/** The release activated by the last update, and the previous release. */
export interface Active extends Installed {
  readonly previous: Installed;
}

/** Whether release `to` contains migrations that release `from` lacks. After these migrations, `from` cannot use the
 *  database. */
export function bringsMigrations(to: Installed, from: Installed): boolean {
  const known = migrationsIn(from);
  return migrationsIn(to).some((name) => !known.includes(name));
}

function migrationsIn({ folder }: Installed): readonly string[] {
  const at = join(folder, 'migrations');
  return existsSync(at) ? readdirSync(at).filter((name) => name.endsWith('.sql')) : [];
}

/** A switch between releases that was requested or has started. */
export interface Switch {
  readonly updateId: string;
  readonly kind: UpdateKind;
  readonly from: Installed;
  readonly to: Installed;
  /**
   * Whether the target release has been started. If true, the guard rolls back to the previous release after a crash.
   */
  readonly isTried: boolean;
  /**
   * Whether the target release has passed its health checks. If true, the guard keeps the target release after a crash.
   */
  readonly isWell?: boolean;
  /** Set for a rollback that replaces the database with the stored copy. */
  readonly restores?: {
    /** The ID of the rolled-back update. The copy was created during that update, so it contains the update as
     *  unfinished. */
    readonly updateId: string;
    /** The reason for the rollback, which is recorded with that update. */
    readonly reason: string;
  };
  /** The database copy that was created for this switch. */
  readonly copied?: Pick<KeptCopy, 'folder' | 'madeAt' | 'sizeBytes'>;
  /** The self-check's challenge. A run of the new release answers the challenge, and its output is stored in
   *  `self-check.json`. */
  readonly challenge?: string;
}

/** A database copy that was created before an update, for a rollback of that update. */
export interface KeptCopy {
  readonly updateId: string;
  /** The release that used the copied database. */
  readonly of: Installed;
  /** The absolute path of the copy. */
  readonly folder: string;
  /** The time of the copy (RFC 3339). A rollback discards later events. */
  readonly madeAt: string;
  /** The time at which the copy expires (RFC 3339). */
  readonly expiresAt: string;
  readonly sizeBytes: number;
}

/** The result of a new release's self-check, written by the release's backend. */
export interface SelfCheck {
  readonly updateId: string;
  /** The status of the self-check run. */
  readonly status: 'queued' | 'running' | 'success' | 'failed' | 'stopped';
  /** The output of the self-check run. */
  readonly answer: string | null;
  /** The reason why the self-check run failed. */
  readonly failure: string | null;
  /** The number of other runs since the start. `sandboxErrors` counts the runs that failed with a sandbox error. */
  readonly others: {
    readonly started: number;
    readonly ended: number;
    readonly sandboxErrors: number;
  };
}

/** Returns the output that the self-check run must produce. */
export function answerTo(challenge: string): string {
  return createHash('sha256').update(challenge).digest('hex');
}

/** The outcome of a switch, which the backend records as an event. */
export interface Outcome {
  readonly updateId: string;
  readonly kind: 'succeeded' | 'rolled_back';
  /** The reason for a rollback. */
  readonly reason: string;
}

interface Files {
  readonly active: Active;
  readonly switch: Switch;
  readonly outcome: Outcome;
  readonly copy: KeptCopy;
  readonly 'self-check': SelfCheck;
}

/** The `releases` folder in a data folder. */
export class Releases {
  readonly folder: string;

  constructor(dataDir: string) {
    this.folder = join(dataDir, 'releases');
  }

  /** Returns the folder of a version, which need not exist. */
  folderOf(version: string): string {
    return join(this.folder, version);
  }

  /** Creates the folder if it does not exist. It is readable by all users, because scripts run as other users and
   *  execute programs in it. */
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

  /** Removes all unpacked and downloaded releases except this process's release, the active release and the previous
   *  release. */
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
