/** Runs the shell commands in README.md and docs/ as if a reader had copied them into a terminal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { findProgram } from '#infra/testing/find-program.ts';
import type { OptionalService } from '../../../scripts/testing/optional-service.ts';

export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Paths of the pages with shell commands, relative to the repository. */
export const pages: readonly string[] = globSync(['README.md', 'docs/*.md'], { cwd: root })
  .filter((page) => blocksOf(page).length > 0)
  .toSorted();

/** Returns the shell commands of a page, one block per entry. */
export function blocksOf(page: string): readonly string[] {
  const found = readFileSync(join(root, page), 'utf8').matchAll(/^```sh\n(.*?)^```$/gms);
  return Array.from(found, ([, block = '']) => block);
}

/** Programs that pages use and a machine may lack, with their Debian packages. */
const packages = new Map([
  ['curl', 'curl'],
  ['jq', 'jq'],
  ['pip', 'python3-pip'],
  ['redis-cli', 'redis-tools'],
]);

/** Returns the programs that a page requires. `found` is undefined if this machine lacks one of them. */
export function programsOf(page: string): OptionalService {
  const words = new Set(
    blocksOf(page)
      .join('\n')
      .split(/[\s()|;$]+/),
  );
  const missing = [...packages].filter(([name]) => words.has(name) && !findProgram(name, []));
  const names = missing.map(([name]) => name).join(', ');
  return {
    service: names,
    found: missing.length === 0 ? page : undefined,
    reason: `not on the PATH (Debian: apt-get install ${missing.map((each) => each[1]).join(' ')})`,
  };
}

/** The environment for a page's commands. */
export interface PageContext {
  /** An empty folder. */
  readonly folder: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Replacements in the page's commands, for example of a port. */
  readonly instead: readonly (readonly [found: string | RegExp, instead: string])[];
}

// Sets up the shell: it exits at the first failed command, finds `orchestrator` on the PATH, and has stubs for programs
// that are missing on this machine.
const setUp = `set -euo pipefail
shopt -s expand_aliases
curl() { command curl --fail-with-body "$@"; echo; }
redis-cli() { command redis-cli -e -p "$REDIS_PORT" "$@"; }
docker() { echo "docker $*"; }
git() { echo "git $*"; }
make() { echo "make $*"; }
orchestrator() { ${join(root, 'services/cli/orchestrator')} "$@"; }
`;

/** Runs a page's commands in one shell, up to the first failure.
 *  @returns the exit code, and the output of all commands */
export async function runPage(page: string, { folder, variables, instead }: PageContext) {
  const commands = instead.reduce(
    (before, [found, other]) => before.replaceAll(found, other),
    blocksOf(page)
      .join('\n')
      // Project scripts run from the project's folder.
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
