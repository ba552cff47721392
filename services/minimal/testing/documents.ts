/** Runs the shell commands of README.md and docs/, as if a reader had copied them into a terminal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Pages with shell commands, by their path in the repository. */
export const pages: readonly string[] = globSync(['README.md', 'docs/*.md'], { cwd: root })
  .filter((page) => blocksOf(page).length > 0)
  .toSorted();

/** The commands of a page, block by block. */
export function blocksOf(page: string): readonly string[] {
  const found = readFileSync(join(root, page), 'utf8').matchAll(/^```sh\n(.*?)^```$/gms);
  return Array.from(found, ([, block = '']) => block);
}

/** The environment of a page's commands. */
export interface PageContext {
  /** An empty folder. */
  readonly folder: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Replacements in the commands of the page, for example of a port. */
  readonly instead: readonly (readonly [found: string | RegExp, instead: string])[];
}

// The setup of the shell: it ends at the first failed command, finds the command line on the PATH, and has stubs for
// programs of other machines.
const setUp = `set -euo pipefail
shopt -s expand_aliases
curl() { command curl --fail-with-body "$@"; echo; }
redis-cli() { command redis-cli -e -p "$REDIS_PORT" "$@"; }
docker() { echo "docker $*"; }
git() { echo "git $*"; }
make() { echo "make $*"; }
orchestrator() { ${join(root, 'services/cli/orchestrator')} "$@"; }
`;

/** Runs the commands of a page in one shell, up to the first failure. @returns the exit code, and the output of all
 *  commands */
export async function runPage(page: string, { folder, variables, instead }: PageContext) {
  const commands = instead.reduce(
    (before, [found, other]) => before.replaceAll(found, other),
    blocksOf(page)
      .join('\n')
      // Scripts of the project are run from the project's folder.
      .replaceAll(
        /(?<![\w/])(?="?(?:\$PWD\/)?(?:scripts|services|infra)\/)(?:"\$PWD\/)?/g,
        (quote) => (quote === '' ? `${root}` : `"${root}`),
      ),
  );
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const shell = spawn('bash', ['-s'], {
    cwd: folder,
    env: { PATH, NODE_COMPILE_CACHE, HOME: folder, ...variables },
  });
  shell.stdin.on('error', () => undefined).end(setUp + commands);
  const ended = once(shell, 'close');
  const [out, problem] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
  const [code] = (await ended) as [number];
  return { code, said: `${out}${problem}` };
}
