/** Decides which release this process starts, and whether a guard must supervise it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compareVersions } from '#domain/update/update.ts';
import type { Installed, Releases } from '#services/shared/releases.ts';
import { version } from '#services/shared/version.ts';

/** The guard sets this variable for the release that it supervises. */
export const guardedVariable = 'ORCHESTRATOR_GUARDED';

/** The release that contains this code. */
export const own: Installed = {
  version,
  folder: fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, ''),
};

/** Returns the entry point of a release. */
export const entryOf = ({ folder }: Installed): string => join(folder, 'services/minimal/main.ts');

/** Returns the program that must replace this process, or `undefined` to continue. If a switch is requested or was
 *  interrupted, the program is the guard. Otherwise, the program is the active release if it is newer than the release
 *  that `make run` started. */
export function programToStart(releases: Releases, isGuarded: boolean): string | undefined {
  if (isGuarded) return undefined;
  if (releases.read('switch') !== undefined) return guardEntry;
  const active = releases.read('active');
  if (active === undefined || active.folder === own.folder) return undefined;
  if (compareVersions(active.version, own.version) <= 0) return undefined;
  return existsSync(entryOf(active)) ? entryOf(active) : undefined;
}

export const guardEntry = fileURLToPath(new URL('guard-main.ts', import.meta.url));

/** Returns the Node executable that the release includes, or else the one that runs this process. */
export function nodeOf({ folder }: Installed): string {
  const brought = join(folder, '.toolchain/node_modules/node/bin/node');
  return existsSync(brought) ? brought : process.execPath;
}
