/** Syncs a repository: reads its newest commit, plans, and applies all changes in one transaction. */
import { mustParse, parseCommandId, parseRepositoryId } from '#domain/kernel/ids.ts';
import type { RepositoryId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { GitProblem, type GitCommit, type GitRemote } from '#domain/ports/git.ts';
import { commitPage, type CommitFacts } from '#domain/repository/repository.ts';
import { withRepository } from '#infra/postgres/operations/repository-checks.ts';
import { UnreadableSecret } from '#infra/secrets/envelope.ts';
import { scriptsWithCommitChanges } from '#projections/approvals/queries.ts';
import {
  findRepository,
  listRepositories,
  sourcedScripts,
} from '#projections/repositories/queries.ts';
import type { RepositoriesTable } from '#projections/repositories/table.ts';
import { importConfiguration, type Imported } from '../configuration/import.ts';
import { isProblem, notFound, problem, type Problem } from '../http/problem.ts';
import type { Services } from '../services.ts';
import { openCredential } from './credentials.ts';
import { providerOf, type Providing } from './provider.ts';
import { keptScripts, writeBack } from './write-back.ts';
import { documentPath, isWanted, readDocument, type ReadDocument } from './read-document.ts';

/** The maximum number of attempts if scripts are edited during a sync. */
const maxAttempts = 3;

export interface Sync {
  readonly repositoryId: RepositoryId;
  readonly dryRun: boolean;
  /** Whether to skip a commit that was already applied or refused. */
  readonly onlyNew: boolean;
  /** Whether to revert local changes that the branch does not contain. */
  readonly discard: boolean;
  /** The maximum time to wait for another sync of the repository. */
  readonly lockTimeoutMs: number;
  /** The origin of webhook URLs. */
  readonly origin: string;
  readonly context: CommandContext;
  readonly signal: AbortSignal;
}

export interface Synced extends Imported {
  readonly commit: CommitFacts;
}

/** @returns the result of the sync; `undefined` if there is no new commit */
export async function syncRepository(
  sync: Sync,
  services: Services,
): Promise<Synced | Problem | undefined> {
  if (sync.dryRun) return await syncLocked(sync, services);
  const done = await withRepository(
    services.pool,
    sync.repositoryId,
    sync.lockTimeoutMs,
    async () => await syncLocked(sync, services),
  );
  return done === undefined
    ? problem('sync_in_progress', 'Another sync of the repository is running. Try again later.')
    : done.result;
}

/** Repeats the sync if a script is edited during it. */
async function syncLocked(sync: Sync, services: Services): Promise<Synced | Problem | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const done = await syncOnce(sync, attempt === maxAttempts, services);
    if (!isProblem(done) || done.code !== 'version_mismatch') return done;
  }
}

async function syncOnce(
  sync: Sync,
  isLast: boolean,
  services: Services,
): Promise<Synced | Problem | undefined> {
  const row = await findRepository(services.readModels, sync.repositoryId);
  if (row === undefined) return notFound;
  let commit: CommitFacts | null = null;
  try {
    const remote = await remoteOf(row, services);
    const isOld = sync.onlyNew && isKnown(row, await services.git.head(remote, sync.signal));
    const isWriting =
      !sync.dryRun && !sync.discard && (await writeBack(row, remote, sync, !isOld, services));
    if (isOld && !isWriting) return undefined;
    const snapshot = await services.git.read(remote, isWanted, sync.signal, row.commits[0]?.hash);
    commit = factsOf(snapshot.commit, row);
    const { files, isRewritten } = snapshot;
    if ('problem' in files) return await failed(sync, row, commit, files.problem, services);
    const read = readDocument(files, row.repository_id, services.ids);
    if (isProblem(read)) return await failed(sync, row, commit, read.detail, services);
    const scripts = await sourcedScripts(services.readModels);
    const keeps = sync.discard
      ? new Set<string>()
      : await keptScripts(row, scripts, files, services);
    const done = await apply(sync, row, commit, { ...read, scripts, keeps, isRewritten }, services);
    if (isProblem(done)) {
      if (done.code === 'version_mismatch' && !isLast) return done;
      const detail = inFiles(done.detail, read);
      return await failed(sync, row, commit, detail, services);
    }
    return { ...done, commit };
  } catch (error) {
    if (sync.signal.aborted) throw error;
    if (!(error instanceof GitProblem || error instanceof UnreadableSecret)) throw error;
    return await failed(sync, row, commit, error.message, services);
  }
}

/** Replaces an index in the merged document with the name of the file. */
function inFiles(detail: string, { paths, schedulePlaces }: ReadDocument): string {
  return detail.replace(/^In ([a-z_]+)\/(\d+)/, (_text, section: string, index: string) => {
    const places = section === 'scripts' ? paths : section === 'schedules' ? schedulePlaces : [];
    return `In ${places[Number(index)] ?? `${documentPath}, ${section}/${index}`}`;
  });
}

async function remoteOf(row: RepositoriesTable, { vault }: Services): Promise<GitRemote> {
  const { url, branch, folder } = row.settings;
  const access = await openCredential(vault, row.repository_id, row.credential);
  return { url, branch, folder, access };
}

function isKnown(row: RepositoriesTable, head: string): boolean {
  if (row.changed && row.failed_commit?.hash !== head) return false;
  if (row.problem !== null) return row.failed_commit?.hash === head;
  return row.commits[0]?.hash === head;
}

function factsOf(commit: GitCommit, { settings: { url } }: RepositoriesTable): CommitFacts {
  return { ...commit, url: commitPage(url, commit.hash) };
}

async function apply(
  { dryRun, origin, context }: Sync,
  row: RepositoriesTable,
  commit: CommitFacts,
  {
    document,
    paths,
    scripts,
    keeps,
    isRewritten,
  }: Omit<ReadDocument, 'schedulePlaces'> & Pick<Providing, 'scripts' | 'keeps' | 'isRewritten'>,
  services: Services,
): Promise<Imported | Problem> {
  const taken = await takenProblem(row, document, services);
  if (taken !== undefined) return taken;
  const own = { ...context, commandId: mustParse(parseCommandId, services.ids.next()) };
  const { repository_id: id, settings } = row;
  const actor = {
    kind: 'repository',
    repositoryId: mustParse(parseRepositoryId, id),
    name: settings.name,
    commit: commit.hash,
    author: commit.author,
    url: commit.url,
  } as const;
  const requested = await scriptsWithCommitChanges(services.readModels);
  const provider = providerOf({
    row,
    commit,
    paths,
    scripts,
    keeps,
    isRewritten,
    requested,
    context: own,
  });
  const wanted = {
    document,
    dryRun,
    prune: true,
    origin,
    context: { ...context, actor },
    provider,
  };
  return await importConfiguration(wanted, services);
}

/** Refuses resources that another repository provides. */
async function takenProblem(
  row: RepositoriesTable,
  document: ReadDocument['document'],
  { readModels }: Services,
): Promise<Problem | undefined> {
  const others = await listRepositories(readModels);
  const wanted = new Set(
    Object.values(document).flatMap((section) =>
      Array.isArray(section) ? section.map(({ id }: { id: string }) => id.toLowerCase()) : [],
    ),
  );
  for (const { repository_id: id, settings, provides } of others) {
    const taken = id === row.repository_id ? undefined : provides.find((one) => wanted.has(one.id));
    if (taken !== undefined) {
      const detail = `The repository "${settings.name}" already provides the ${taken.kind} ${taken.id}.`;
      return problem('managed_by_repository', detail);
    }
  }
  return undefined;
}

/** Records the failure. The last applied commit stays in effect. */
async function failed(
  { dryRun, context }: Sync,
  { repository_id: id }: RepositoriesTable,
  commit: CommitFacts | null,
  detail: string,
  { commands, ids }: Services,
): Promise<Problem> {
  const at = commit === null ? '' : `Commit ${commit.hash.slice(0, 10)}: `;
  const refused = problem('sync_failed', `${at}${detail}`);
  if (dryRun) return refused;
  const own = { ...context, commandId: mustParse(parseCommandId, ids.next()) };
  const repositoryId = mustParse(parseRepositoryId, id);
  const command = { type: 'RecordSyncFailure', repositoryId, commit, problem: detail } as const;
  await commands.execute(command, own);
  return refused;
}
