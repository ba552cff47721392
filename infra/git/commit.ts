/** Creates a commit in Git's object store, without a working tree or an index. */
import { GitProblem, type GitChange } from '#domain/ports/git.ts';
import type { Run } from './process.ts';
import { plain } from './text.ts';

/** The maximum number of commits whose messages are read. */
export const maxMessages = 100;
const maxMessageBytes = 4 * 1024 * 1024;
const maxListBytes = 16 * 1024 * 1024;
const committer = 'Orchestrator <orchestrator@localhost>';

/** Returns the messages of the fetched commits, newest first. */
export async function recentMessages(run: Run, ref: string): Promise<readonly string[]> {
  const args = ['log', '-z', `-${maxMessages}`, '--no-show-signature', '--format=%B', ref, '--'];
  return (await run(args, maxMessageBytes)).toString('utf8').split('\0');
}

/** Sets `ref` to a new commit. @returns its hash */
export async function createCommit(
  run: Run,
  parent: string,
  folder: string,
  change: GitChange,
  ref: string,
): Promise<string> {
  const modes = await modesOf(run, parent);
  const time = `${Math.floor(change.at.getTime() / 1000)} +0000`;
  const author = `${identityPart(change.author.name)} <${identityPart(change.author.email)}>`;
  const chunks: Uint8Array[] = [
    Buffer.from(`commit ${ref}\nauthor ${author} ${time}\ncommitter ${committer} ${time}\n`),
    ...data(Buffer.from(change.message)),
    Buffer.from(`from ${parent}\n`),
  ];
  // Deletes files first, because a new folder may have the name of a deleted file.
  const files = [...change.files].toSorted(
    ([, one], [, other]) => Number(one !== null) - Number(other !== null),
  );
  for (const [name, content] of files) {
    const path = folder === '' ? name : `${folder}/${name}`;
    if (path.split('/').some((part) => /^\.git$/i.test(part)))
      throw new GitProblem(`Git cannot store the file ${JSON.stringify(path)}.`);
    if (content === null) chunks.push(Buffer.from(`D ${quoted(path)}\n`));
    else
      chunks.push(
        Buffer.from(`M ${modes.get(path) ?? '100644'} inline ${quoted(path)}\n`),
        ...data(content),
      );
  }
  // `--force` replaces the branch of an earlier attempt.
  await run(['fast-import', '--quiet', '--force'], undefined, Buffer.concat(chunks));
  return (await run(['rev-parse', '--verify', ref])).toString('utf8').trim();
}

/** Returns the file modes of all files, by path. */
async function modesOf(run: Run, hash: string): Promise<ReadonlyMap<string, string>> {
  const list = await run(['ls-tree', '-r', '-z', '--full-tree', hash], maxListBytes);
  const lines = list.toString('utf8').split('\0');
  return new Map(
    lines.map((line): [string, string] => [line.slice(line.indexOf('\t') + 1), line.slice(0, 6)]),
  );
}

function data(content: Uint8Array): readonly Uint8Array[] {
  return [Buffer.from(`data ${content.length}\n`), content, Buffer.from('\n')];
}

function quoted(path: string): string {
  return `"${path.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}

/** Removes characters that would end a name or an email address in the commit header. */
function identityPart(text: string): string {
  return plain(text.replaceAll(/[<>]/g, ''), 200);
}
