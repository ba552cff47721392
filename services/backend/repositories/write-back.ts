/** Pushes local script changes as one commit (docs/git.md, "Write back"). Every step can be repeated, because a
 *  commit depends only on the script versions that its message names. */
import { createHash } from 'node:crypto';
import { mustParse, parseCommandId, parseRepositoryId, parseScriptId } from '#domain/kernel/ids.ts';
import { objectKey } from '#domain/ports/object-keys.ts';
import {
  GitProblem,
  type GitChange,
  type GitFile,
  type GitRemote,
  type GitSnapshot,
} from '#domain/ports/git.ts';
import { commitPage, type ScriptSource, type WriteBack } from '#domain/repository/repository.ts';
import { isEdited, sourcedScripts, type SourcedScript } from '#projections/repositories/queries.ts';
import type { RepositoriesTable } from '#projections/repositories/table.ts';
import type { Services } from '../services.ts';
import { readEdits, type Edits } from './edits.ts';
import { mergeScript, type Branch } from './merge.ts';
import { isWanted } from './read-document.ts';
import type { Sync } from './sync.ts';
import { changeOf, pushedEvents, pushedVersion, type Part } from './write-message.ts';

/** Pushes changes that are not in the branch yet.
 *  @param retriesConflicts whether to retry scripts that had a merge conflict
 *  @returns whether there was anything to push
 *  @throws GitProblem if nothing was pushed, or if the server's response was lost */
export async function writeBack(
  row: RepositoriesTable,
  remote: GitRemote,
  sync: Sync,
  retriesConflicts: boolean,
  services: Services,
): Promise<boolean> {
  if (row.settings.mode !== 'write_back') return false;
  const scripts = [...(await sourcedScripts(services.readModels))].filter(
    ([, script]) =>
      script.source.repositoryId === row.repository_id &&
      isPending(script) &&
      (retriesConflicts || script.source.writeBack?.conflict === null),
  );
  if (scripts.length === 0) return false;
  const edits = await Promise.all(
    scripts.map(
      async ([id, script]) => await readEdits(mustParse(parseScriptId, id), script, services),
    ),
  );
  const branch = row.settings.writeBranch ?? row.settings.branch;
  let conflicts: ReadonlyMap<string, string> = new Map();
  const commit = await services.git.write(
    remote,
    {
      branch,
      isWanted,
      decide: async (snapshot, messages) => {
        // If a process crashed after a push, commits in the branch contain changes that are not recorded as pushed.
        const isNew = snapshot.commit.hash !== row.commits[0]?.hash;
        const pushed = pushedEvents(isNew ? await messages() : []);
        const decided = await decide(snapshot, edits, pushed, row, services);
        conflicts = decided.conflicts;
        return decided.change;
      },
    },
    sync.signal,
  );
  const url = commitPage(row.settings.url, commit.hash);
  await record(edits, conflicts, { branch, commit: commit.hash, url }, sync, services);
  return true;
}

/** The scripts with local changes that the synced commit does not contain. */
export async function keptScripts(
  { repository_id: id, settings }: RepositoriesTable,
  scripts: ReadonlyMap<string, SourcedScript>,
  files: readonly GitFile[],
  services: Services,
): Promise<ReadonlySet<string>> {
  if (settings.mode !== 'write_back') return new Set();
  const branch = branchOf(files);
  const own = [...scripts].filter(
    ([, script]) => script.source.repositoryId === id && isEdited(script),
  );
  const kept = await Promise.all(
    own.map(async ([scriptId, script]) => {
      const { pushed = null } = script.source.writeBack ?? {};
      // All changes were pushed to this branch. Any other contents in the commit come from later commits and take
      // effect.
      if (pushed?.branch === settings.branch && !isPending(script)) return [];
      const edits = await readEdits(mustParse(parseScriptId, scriptId), script, services);
      const merged = mergeScript({ ...edits, path: inFolder(settings, edits) }, branch);
      return 'files' in merged && merged.files.size === 0 ? [] : [scriptId];
    }),
  );
  return new Set(kept.flat());
}

/** The script's folder, as named in the snapshot. */
function inFolder({ folder }: RepositoriesTable['settings'], { source }: Edits): string {
  return folder === '' ? source.path : source.path.slice(folder.length + 1);
}

function branchOf(files: readonly GitFile[]): Branch {
  const contents = new Map(files.map(({ path, content }) => [path, content]));
  return {
    sha256: (path) => {
      const content = contents.get(path);
      return content === undefined ? null : createHash('sha256').update(content).digest('hex');
    },
    text: (path) => {
      const content = contents.get(path);
      return content && Buffer.from(content).toString('utf8');
    },
    hasFolder: (path) => files.some((file) => file.path.startsWith(`${path}/`)),
  };
}

/** Whether the script has changes that have not been pushed yet. */
function isPending(script: SourcedScript): boolean {
  const pushed = script.source.writeBack?.pushed?.version ?? 0;
  return isEdited(script) && script.version > pushed;
}

async function decide(
  { commit, files }: GitSnapshot,
  edits: readonly Edits[],
  pushed: ReadonlySet<string>,
  { settings }: RepositoriesTable,
  services: Services,
): Promise<{ conflicts: ReadonlyMap<string, string>; change: GitChange | undefined }> {
  if ('problem' in files)
    throw new GitProblem(`Commit ${commit.hash.slice(0, 10)}: ${files.problem}`);
  const branch = branchOf(files);
  const conflicts = new Map<string, string>();
  const parts: Part[] = [];
  const changes = new Map<string, Uint8Array | null>();
  for (const edit of edits) {
    const known = pushedVersion(edit, pushed);
    if (known >= edit.version) continue;
    const item = known === 0 ? undefined : await edit.itemAt(known);
    const earlier = [...edit.earlier, ...(item ? [item] : [])] as unknown as Edits['earlier'];
    const merged = mergeScript({ path: inFolder(settings, edit), earlier, now: edit.now }, branch);
    if ('conflict' in merged) {
      conflicts.set(edit.scriptId, merged.conflict);
      continue;
    }
    for (const [file, content] of merged.files)
      changes.set(file, await contentOf(edit, content, services));
    if (merged.files.size > 0) parts.push({ edit, changed: merged.changed });
  }
  const change =
    parts.length === 0 ? undefined : { files: changes, ...(await changeOf(parts, services)) };
  return { conflicts, change };
}

async function contentOf(
  { scriptId }: Edits,
  content: { readonly sha256: string } | string | null,
  { objects }: Services,
): Promise<Uint8Array | null> {
  if (content === null) return null;
  if (typeof content === 'string') return Buffer.from(content);
  const bytes = await objects.get(objectKey.scriptBlob(scriptId, content.sha256));
  if (bytes === undefined) throw new Error(`content ${content.sha256} is missing`);
  return bytes;
}

/** Records which versions the branch contains, and which scripts have changes that could not be merged. */
async function record(
  edits: readonly Edits[],
  conflicts: ReadonlyMap<string, string>,
  pushed: { readonly branch: string; readonly commit: string; readonly url: string | null },
  { repositoryId, context }: Sync,
  { commands, ids }: Services,
): Promise<void> {
  await commands.executeAll(
    edits.map(({ scriptId, version, source }) => {
      const conflict = conflicts.get(scriptId) ?? null;
      const before = source.writeBack as WriteBack;
      const now =
        conflict === null
          ? { ...before, pushed: { version, ...pushed }, conflict }
          : { ...before, conflict };
      const next: ScriptSource = { ...source, writeBack: now };
      const commandId = mustParse(parseCommandId, ids.next());
      return {
        command: {
          type: 'SetScriptSource',
          scriptId,
          repositoryId: mustParse(parseRepositoryId, repositoryId),
          source: next,
        },
        context: { ...context, commandId },
      };
    }),
  );
}
