/** Which release a start is for, and whether somebody has to watch over it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compareVersions } from '#domain/update/update.ts';
import type { Installed, Releases } from '#services/shared/releases.ts';
import { version } from '#services/shared/version.ts';

/** Set by the guard for the release that it watches over. */
export const guardedVariable = 'ORCHESTRATOR_GUARDED';

/** This release. */
export const own: Installed = {
  version,
  folder: fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, ''),
};

/** What a release is started by. */
export const entryOf = ({ folder }: Installed): string => join(folder, 'services/minimal/main.ts');

/** The program to go on as; `undefined` for this one.
 *
 *  A switch that is wanted, or was interrupted, is the guard's. Otherwise a release that was installed since goes
 *  before the folder that `make run` was said in, unless that has become newer. */
export function goOnAs(releases: Releases, isGuarded: boolean): string | undefined {
  if (isGuarded) return undefined;
  if (releases.read('switch') !== undefined) return guardEntry;
  const active = releases.read('active');
  if (active === undefined || active.folder === own.folder) return undefined;
  if (compareVersions(active.version, own.version) <= 0) return undefined;
  return existsSync(entryOf(active)) ? entryOf(active) : undefined;
}

export const guardEntry = fileURLToPath(new URL('guard-main.ts', import.meta.url));

/** The Node that a release brings, or this one. */
export function nodeOf({ folder }: Installed): string {
  const brought = join(folder, '.toolchain/node_modules/node/bin/node');
  return existsSync(brought) ? brought : process.execPath;
}
