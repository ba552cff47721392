/** Makes signed releases for update tests from this folder. Versions increase, and some releases are broken. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const own = fileURLToPath(new URL('../..', import.meta.url));
const program = join(own, 'scripts/make-release.ts');

/** A change to a source file that breaks the release. */
interface Break {
  readonly file: string;
  readonly text: string;
  readonly replacement: string;
}

interface Release {
  /** Whether the release adds a migration. A rollback then restores the database from before the update. */
  readonly migrates: boolean;
  readonly change?: Break;
}

const releases = {
  good: { migrates: true },
  'backend exits after 5 s': {
    migrates: true,
    change: {
      file: 'services/backend/start.ts',
      text: 'const connections = ',
      replacement: 'setTimeout(() => process.exit(1), 5_000);\nconst connections = ',
    },
  },
  'every run fails': {
    migrates: false,
    change: {
      file: 'services/runtime/snapshots.ts',
      text: 'const files = await this.#listOf(',
      replacement: `throw new Error('This release fails every run.');\n    const files = await this.#listOf(`,
    },
  },
} as const satisfies Record<string, Release>;

export type ReleaseKind = keyof typeof releases;

/** Random data that makes releases large enough to kill processes during the download and the verification. */
const ballastBytes = 8 * 1024 * 1024;

/** A repository of releases. Child processes do all the work, so that the observer stays responsive. */
export class ReleaseRepository {
  /** Environment variables for the supervisor. */
  readonly variables: Readonly<Record<string, string>>;
  readonly #folder: string;
  /** The last component of the newest version number. */
  #number: number;
  #migrations = 0;

  private constructor(folder: string, printedKey: string) {
    this.#folder = folder;
    this.#number = Number(versionIn(own).split('.').at(-1));
    this.variables = {
      ORCH_UPDATE_URL: pathToFileURL(join(folder, 'repository')).href,
      ORCH_UPDATE_KEY: printedKey.trim().replace('ORCH_UPDATE_KEY=', ''),
    };
  }

  /** @param folder an empty folder */
  static async make(folder: string): Promise<ReleaseRepository> {
    mkdirSync(join(folder, 'repository'));
    await run(own, 'bash', '-c', `head -c ${ballastBytes} /dev/urandom >"$0"`, ballastIn(folder));
    const printed = await run(own, process.execPath, program, 'key', keyIn(folder));
    return new ReleaseRepository(folder, printed);
  }

  /** Publishes the next release. @returns its version */
  async publish(kind: ReleaseKind): Promise<string> {
    const { migrates, change }: Release = releases[kind];
    const source = join(this.#folder, 'source');
    await rm(source, { recursive: true, force: true });
    mkdirSync(source);
    await run(own, 'bash', '-c', copyTo, source);
    await run(own, 'cp', '-r', '--parents', 'web/build', source);
    await run(own, 'cp', ballastIn(this.#folder), source);
    this.#number += 1;
    const version = raiseVersion(source, this.#number);
    // A release contains the migrations of all earlier releases.
    if (migrates) this.#migrations += 1;
    for (let added = 0; added < this.#migrations; added += 1) addMigration(source);
    if (change !== undefined) replaceIn(join(source, change.file), change);
    await run(source, 'git', 'init', '--quiet');
    await run(source, 'git', 'add', '--all');
    const repository = join(this.#folder, 'repository');
    const signing = ['--key', keyIn(this.#folder), '--folder', source];
    await run(own, process.execPath, program, 'add', repository, ...signing);
    return version;
  }
}

const keyIn = (folder: string) => join(folder, 'key.pem');
const ballastIn = (folder: string) => join(folder, 'ballast');

/** Copies the current content of all tracked files. */
const copyTo =
  'set -o pipefail; git ls-files -z | tar --create --null -T - | tar --extract -C "$0"';

function versionIn(folder: string): string {
  const content = readFileSync(join(folder, 'package.json'), 'utf8');
  return (JSON.parse(content) as { version: string }).version;
}

function raiseVersion(source: string, number: number): string {
  const file = join(source, 'package.json');
  const content = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  const version = [...content.version.split('.').slice(0, -1), number].join('.');
  writeFileSync(file, JSON.stringify({ ...content, version }, null, 2));
  return version;
}

function addMigration(source: string): void {
  const folder = join(source, 'migrations');
  const number = readdirSync(folder).filter((name) => name.endsWith('.sql')).length + 1;
  const file = join(folder, `${String(number).padStart(4, '0')}_soak.sql`);
  writeFileSync(file, `CREATE TABLE soak_${number} (id int);\n`);
}

function replaceIn(file: string, { text, replacement }: Break): void {
  const before = readFileSync(file, 'utf8');
  if (!before.includes(text)) throw new Error(`${file} does not contain: ${text}`);
  // A function is used because the text may contain replacement patterns such as `$&`.
  const after = before.replace(text, () => replacement);
  writeFileSync(file, after);
}

async function run(cwd: string, command: string, ...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(command, args, { cwd, encoding: 'utf8' })).stdout;
}
