/** Scripts and their files as of a point in time. Only users who can currently see a script can see its history. */
import type { Principal } from '#domain/kernel/actor.ts';
import type { ScriptId } from '#domain/kernel/ids.ts';
import type { PresentFile, PresentScript } from '#domain/script/state.ts';
import type { ScriptFileView } from '#projections/scripts/files.ts';
import type { ScriptView } from '#projections/scripts/queries.ts';
import { isIn } from '../../access/visibility.ts';
import { momentOf } from '../../http/point-in-time.ts';
import { isProblem, notFound, problem, type Problem } from '../../http/problem.ts';
import type { Services } from '../../services.ts';
import { noVersion, scriptOfVersion } from './diff.ts';
import { pastFiles, pastView, readPastScript, scriptStateAt, type PastScript } from './state-at.ts';

/** A request for a script as of `at`, which is a time or a position. */
export interface LookBack {
  readonly principal: Principal;
  readonly scriptId: ScriptId;
  readonly at: string;
}

const notFoundThen = problem('not_found', 'The script did not exist at that time.');

async function lookBack(
  { principal, scriptId, at }: LookBack,
  services: Services,
): Promise<{ readonly past: PastScript; readonly script: PresentScript } | Problem> {
  const moment = await momentOf(at, services);
  if (isProblem(moment)) return moment;
  const past = await readPastScript(services.database, scriptId, moment);
  const { groupIdNow, script } = past;
  if (groupIdNow === undefined || !isIn(principal, groupIdNow)) return notFound;
  return script === undefined ? notFoundThen : { past, script };
}

/** Whether the caller can see the script's group, according to the script's history. The script may be deleted. */
export async function canSeeScriptHistory(
  principal: Principal,
  scriptId: ScriptId,
  database: Services['database'],
): Promise<boolean> {
  const now = await scriptStateAt(database, scriptId);
  return now.status !== 'absent' && isIn(principal, now.groupId);
}

export async function scriptAt(
  wanted: LookBack,
  services: Services,
): Promise<ScriptView | Problem> {
  const found = await lookBack(wanted, services);
  if (isProblem(found)) return found;
  return await pastView(services.database, found.past, found.script);
}

/** The first `limit` files whose paths follow `after`, sorted by path, and the script's version. */
export async function filesAt(
  wanted: LookBack,
  page: { readonly after?: string; readonly limit: number },
  services: Services,
): Promise<{ readonly version: number; readonly files: readonly ScriptFileView[] } | Problem> {
  const found = await lookBack(wanted, services);
  if (isProblem(found)) return found;
  const { script } = found;
  const files = await pastFiles(services.database, wanted.scriptId, script, page);
  return { version: script.version, files };
}

/** The file as of the requested time. The content is in the object store, unless it is no longer retained. */
export async function fileAt(
  wanted: LookBack,
  path: string,
  services: Services,
): Promise<Pick<ScriptFileView, 'sha256' | 'size_bytes'> | Problem> {
  const found = await lookBack(wanted, services);
  if (isProblem(found)) return found;
  const file = found.script.files.get(path);
  if (file === undefined) return problem('not_found', 'The file did not exist at that time.');
  return contentOf(file);
}

/** A file in a version of a script. The script may have been deleted. */
export async function fileOfVersion(
  { principal, scriptId, version }: Omit<LookBack, 'at'> & { readonly version: number },
  path: string,
  { database }: Pick<Services, 'database'>,
): Promise<Pick<ScriptFileView, 'sha256' | 'size_bytes'> | Problem> {
  if (!(await canSeeScriptHistory(principal, scriptId, database))) return notFound;
  const script = await scriptOfVersion(database, scriptId, version);
  if (script === undefined) return noVersion;
  const file = script.files.get(path);
  return file === undefined
    ? problem('not_found', 'This version of the script has no such file.')
    : contentOf(file);
}

function contentOf({ sha256, sizeBytes }: PresentFile) {
  return { sha256, size_bytes: sizeBytes };
}
