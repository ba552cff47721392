/** Synchronizes a folder with a script: pull, diff, push. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ApiProblem, fileParts, part } from '#services/shared/api-client.ts';
import { unifiedDiff } from '#services/shared/text/unified-diff.ts';
import { findScript } from '../answers.ts';
import type { Use } from '../command.ts';
import { CommandProblem, exitCodes, usageProblem } from '../problem.ts';
import type { Session } from '../session.ts';
import { hashFolder, removeFromFolder, isSynchronized, writeInFolder } from './folder.ts';
import { differences, nextBase, type Difference, type Hashes } from './plan.ts';
import { findProject, readProject, writeProject, type Project } from './project.ts';
import { plain } from '../table.ts';

/** The current state of the folder and the server. */
interface Compared {
  readonly session: Session;
  readonly folder: string;
  readonly project: Project;
  readonly here: Hashes;
  readonly there: Hashes;
  /** The ETag of the script's files, for `If-Match`. */
  readonly etag: string | undefined;
  readonly found: readonly Difference[];
}

async function compare(session: Session, folder: string, project: Project): Promise<Compared> {
  if (project.server !== session.url) {
    throw new CommandProblem(
      exitCodes.refused,
      `${folder} belongs to ${project.server}, but you are signed in to ${session.url}. Select a profile: ` +
        '--profile NAME',
    );
  }
  const here = await hashFolder(folder);
  const { etag, hashes: there } = await hashScript(session, project.script_id);
  const found = differences(project.base, here, there);
  return { session, folder, project, here, there, etag, found };
}

/** All files of one version of a script. */
async function hashScript(
  { api }: Session,
  scriptId: string,
): Promise<{ readonly etag: string | undefined; readonly hashes: Hashes }> {
  const hashes: Record<string, string> = {};
  let etag: string | undefined;
  for (let cursor: string | null | undefined; cursor !== null;) {
    const {
      body,
      etag: given,
    }: {
      body: { items: { path: string; sha256: string }[]; next_cursor: string | null };
      etag: string | undefined;
    } = await api.call('GET', `/scripts/${part(scriptId)}/files`, {
      query: { limit: 200, cursor },
    });
    if (etag !== undefined && given !== etag) throw changedMeanwhile;
    etag = given;
    for (const { path, sha256 } of body.items) if (isSynchronized(path)) hashes[path] = sha256;
    cursor = body.next_cursor;
  }
  return { etag, hashes };
}

const changedMeanwhile = new CommandProblem(
  exitCodes.refused,
  'The script was saved by another client in the meantime. Try again.',
);

/** Downloads changes. @returns the exit code */
export async function pullFiles(use: Use): Promise<number> {
  const session = await use.session();
  const { folder, project } = await projectToPull(use, session);
  const compared = await compare(session, folder, project);
  const isTheirs = use.options.has('theirs');
  refuseConflicts(compared.found, isTheirs ? undefined : '--theirs');
  const theirs = compared.found.filter(
    ({ side }) => side === 'there' || (isTheirs && side === 'both'),
  );
  const done: Difference[] = [];
  for (const one of theirs) {
    const { path } = one;
    const hash = compared.there[path];
    if (hash !== undefined)
      await writeInFolder(folder, path, await contentOf(compared, path, hash));
    else if (use.options.has('prune')) await removeFromFolder(folder, path);
    else {
      use.terminal.problem(
        `${plain(path)} was deleted on the server and still exists here; --prune deletes it.`,
      );
      continue;
    }
    done.push(one);
    if (use.options.json) continue;
    use.terminal.line(`${hash === undefined ? 'deleted' : 'wrote'} ${plain(path)}`);
  }
  if (use.options.json) use.terminal.line(JSON.stringify(done));
  await record(
    compared,
    done.map(({ path }) => path),
    'there',
  );
  use.terminal.problem(`${folder}: pulled ${done.length} of ${theirs.length} changes.`);
  return exitCodes.done;
}

async function projectToPull(
  { args, folder }: Use,
  session: Session,
): Promise<{ readonly folder: string; readonly project: Project }> {
  const [named, into] = args;
  if (named === undefined) return await findProject(folder);
  const script = await findScript(session.api, named);
  const target = resolve(folder, into ?? script.name.replaceAll(/[/\0]/g, '-'));
  const there = await readProject(target);
  if (there !== undefined && there.script_id !== script.id) {
    throw new CommandProblem(
      exitCodes.refused,
      `${target} already contains the script "${plain(there.script_name)}". Choose another folder.`,
    );
  }
  const fresh = { server: session.url, script_id: script.id, script_name: script.name, base: {} };
  return { folder: target, project: there ?? fresh };
}

async function contentOf(
  { session, project }: Compared,
  path: string,
  sha256: string,
): Promise<Uint8Array> {
  const { body, etag } = await session.api.bytes(
    `/scripts/${part(project.script_id)}/files/${fileParts(path)}`,
  );
  if (etag !== `"${sha256}"`) throw changedMeanwhile;
  return body;
}

function refuseConflicts(found: readonly Difference[], option: string | undefined): void {
  const conflicts = found.filter(({ side }) => side === 'both');
  if (option === undefined || conflicts.length === 0) return;
  const paths = conflicts.map(({ path }) => `  ${plain(path)}`).join('\n');
  throw new CommandProblem(
    exitCodes.refused,
    `Nothing was changed. These files differ on both sides:\n${paths}\nCompare them: orchestrator sync diff. Then ` +
      `merge them by hand, or select a side: ${option}`,
  );
}

async function record(
  compared: Compared,
  done: readonly string[],
  side: 'here' | 'there',
): Promise<void> {
  const { folder, project, here, there } = compared;
  await writeProject(folder, { ...project, base: nextBase(project.base, here, there, done, side) });
}

/** Prints the differences. @returns the exit code */
export async function printDifferences({
  options,
  terminal,
  folder: from,
  session,
}: Use): Promise<number> {
  const { folder, project } = await findProject(from);
  const compared = await compare(await session(), folder, project);
  const { found } = compared;
  if (options.json) terminal.line(JSON.stringify(found));
  else if (options.has('names')) for (const one of found) terminal.line(wordsOf(one));
  else for (const one of found) terminal.line(await textOf(compared, one));
  return found.length === 0 ? exitCodes.done : exitCodes.failed;
}

function wordsOf({ path, side, change }: Difference): string {
  return side === 'both' ? `${plain(path)}: conflict` : `${plain(path)}: ${change} ${side}`;
}

async function textOf(compared: Compared, difference: Difference): Promise<string> {
  const { path } = difference;
  const hash = compared.there[path];
  const there = hash === undefined ? '' : readable(await contentOf(compared, path, hash));
  const here =
    compared.here[path] === undefined ? '' : readable(await readFile(join(compared.folder, path)));
  const heading = `${wordsOf(difference)}`;
  if (here === undefined || there === undefined) return `${heading} (binary file)`;
  return `${heading}\n--- there/${plain(path)}\n+++ here/${plain(path)}\n${unifiedDiff(there, here).trimEnd()}`;
}

/** `undefined` if the content is not text. */
function readable(content: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Uploads changes. @returns the exit code */
export async function pushFiles(use: Use): Promise<number> {
  const { options, terminal } = use;
  if (use.args.length > 0)
    throw usageProblem("Expected no arguments. Run it in the script's folder.");
  const { folder, project } = await findProject(use.folder);
  const compared = await compare(await use.session(), folder, project);
  const isOurs = options.has('ours');
  refuseConflicts(compared.found, isOurs ? undefined : '--ours');
  const ours = compared.found.filter(({ side }) => side === 'here' || (isOurs && side === 'both'));
  const kept = options.has('prune')
    ? []
    : ours.filter(({ path }) => compared.here[path] === undefined);
  for (const { path } of kept) {
    terminal.problem(
      `${plain(path)} was deleted here and still exists on the server; --prune deletes it.`,
    );
  }
  const wanted = inOrder(
    ours.filter((one) => !kept.includes(one)),
    compared.here,
  );
  const say = (text: string) => {
    if (!options.json) terminal.line(text);
  };
  if (options.has('dry-run')) {
    for (const { path } of wanted) say(`would ${verbOf(compared, path)} ${plain(path)}`);
    if (options.json) terminal.line(JSON.stringify(wanted));
    return exitCodes.done;
  }
  const done: string[] = [];
  let requested = 0;
  try {
    await send(
      compared,
      wanted,
      (path) => {
        done.push(path);
        say(`${verbOf(compared, path)}d ${plain(path)}`);
      },
      (path) => {
        requested += 1;
        say(`requested to ${verbOf(compared, path)} ${plain(path)}`);
      },
    );
  } finally {
    await record(compared, done, 'here');
  }
  if (options.json) {
    terminal.line(JSON.stringify(wanted.filter(({ path }) => done.includes(path))));
  }
  const newer = compared.found.filter(({ side }) => side === 'there').length;
  terminal.problem(
    `${plain(project.script_name)}: pushed ${done.length} of ${ours.length} changes.` +
      (requested === 0
        ? ''
        : ` Waiting for approval: ${requested} (orchestrator approvals list --mine).`) +
      (newer === 0 ? '' : ` Newer on the server: ${newer} (orchestrator sync pull).`),
  );
  return exitCodes.done;
}

const verbOf = ({ here }: Compared, path: string) => (here[path] === undefined ? 'delete' : 'save');

/** Whether the server's response is a request for approval, because the script is protected. */
function isRequest(body: unknown): boolean {
  return (body as { readonly kind?: unknown } | undefined)?.kind === 'save';
}

/** Orders the changes: new modules come before the modules that import them, `main.py` after other files, and deletions
 *  last. */
function inOrder(wanted: readonly Difference[], here: Hashes): readonly Difference[] {
  const place = ({ path }: Difference) =>
    here[path] === undefined ? 2 : path === 'main.py' ? 1 : 0;
  return wanted.toSorted((one, other) => place(one) - place(other));
}

/** Sends changes to the server. Each request requires the version that the previous request created. Deletions come
 *  last, and require the content that was compared. */
async function send(
  { session, folder, project, here, there, etag }: Compared,
  wanted: readonly Difference[],
  onDone: (path: string) => void,
  onRequest: (path: string) => void,
): Promise<void> {
  let version = etag ?? '';
  for (const { path } of wanted) {
    const url = `/scripts/${part(project.script_id)}/files/${fileParts(path)}`;
    try {
      if (here[path] === undefined) {
        const headers = { 'If-Match': `"${there[path]}"` };
        const { body } = await session.api.call('DELETE', url, { headers });
        if (isRequest(body)) {
          onRequest(path);
          continue;
        }
      } else {
        const bytes = await readFile(join(folder, path));
        const call = { headers: { 'If-Match': version }, bytes };
        const { body } = await session.api.call<{ script_version: number }>('PUT', url, call);
        if (isRequest(body)) {
          onRequest(path);
          continue;
        }
        version = `"${body.script_version}"`;
      }
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 412) throw changedMeanwhile;
      throw error;
    }
    onDone(path);
  }
}
