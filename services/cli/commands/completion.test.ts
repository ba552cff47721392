/** Tests completions in real shells by pressing the tab key. */
import { execFileSync, spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findProgram } from '#infra/testing/find-program.ts';
import { describeWith } from '../../../scripts/testing/optional-service.ts';

const program = fileURLToPath(new URL('../main.ts', import.meta.url));
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orch-completion-'));
  for (const shell of ['bash', 'zsh', 'fish']) {
    const made = execFileSync(process.execPath, [program, 'completion', shell]);
    await writeFile(join(folder, shell), made);
  }
  // zsh searches for the function by this file name.
  await copyFile(join(folder, 'zsh'), join(folder, '_orchestrator'));
  await writeFile(join(folder, 'etl.tar'), '');
});
afterAll(() => rm(folder, { recursive: true }));

const shellOf = (shell: string) => ({
  service: shell,
  found: findProgram(shell, []),
  reason: `no ${shell} on this machine (Debian: apt-get install ${shell})`,
});

/** Pairs of a typed text and the arguments that the program receives after Enter. */
const typed: readonly (readonly [line: string, words: string])[] = [
  ['syn\t', '<sync>'],
  ['sync pus\t --dr\t', '<sync><push><--dry-run>'],
  ['run Report --fol\t', '<run><Report><--follow>'],
  ['runs --status fai\t', '<runs><--status><failed>'],
  ['runs -o js\t', '<runs><-o><json>'],
  ['scripts ena\t', '<scripts><enable>'],
  ['schedules create --no-en\t', '<schedules><create><--no-enabled>'],
  ['schedules create --overlap queu\t', '<schedules><create><--overlap><queue>'],
  ['backup list --prof\t', '<backup><list><--profile>'],
  ['backup download ID et\t', '<backup><download><ID><etl.tar>'],
];

/** Returns what a shell at a terminal prints for the typed lines. */
async function type(command: string, prepare: string): Promise<readonly string[]> {
  const shell = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], TERM: 'dumb', HOME: folder },
  });
  const lines = [prepare, ...typed.map(([line]) => `orchestrator ${line}`), 'exit', ''];
  shell.stdin.write(lines.join('\n'));
  const shown = stripVTControlCharacters(await text(shell.stdout));
  return shown.match(/^<.+>(?=\r)/gm) ?? [];
}

const expected = typed.map(([, words]) => words);

describeWith(shellOf('bash'), 'bash', () => {
  test('completes commands, options, option values and files', async () => {
    const prepare = `source ./bash; orchestrator() { printf '<%s>' "$@"; echo; }`;
    expect(await type('bash --norc --noprofile -i', prepare)).toEqual(expected);
  });
});

describeWith(shellOf('zsh'), 'zsh', () => {
  const shown = `orchestrator() { printf '<%s>' "$@"; echo; }`;

  test('completes commands, options, option values and files from an installed completion file', async () => {
    const prepare = `fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; ${shown}`;
    expect(await type('zsh -f -i', prepare)).toEqual(expected);
  });

  test('completes commands, options, option values and files from a loaded completion script', async () => {
    const prepare = `autoload -Uz compinit; compinit -u -D; source ./zsh; ${shown}`;
    expect(await type('zsh -f -i', prepare)).toEqual(expected);
  });
});

describeWith(shellOf('fish'), 'fish', () => {
  test.each(typed)('completes %j', (line, words) => {
    const [asked = ''] = line.split(/\t$/);
    const given = asked.replaceAll(/(\w+)\t/g, (_, start: string) =>
      start === 'pus' ? 'push' : '',
    );
    const out = execFileSync(
      'fish',
      ['-N', '-c', 'source ./fish; complete -C "orchestrator $argv[1]"', given],
      {
        cwd: folder,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: folder },
      },
    );
    const candidates = out.split('\n').map((one) => one.split('\t')[0]);
    expect(candidates).toContain(/.*<(.+)>/.exec(words)?.[1]);
  });

  test('describes each completion', () => {
    const asked = ['-N', '-c', 'source ./fish; complete -C "orchestrator sync p"'];
    const env = { PATH: process.env['PATH'], HOME: folder };
    expect(execFileSync('fish', asked, { cwd: folder, encoding: 'utf8', env })).toBe(
      'pull\tdownload the files of a script into a folder\npush\tupload the changes in a folder to its script\n',
    );
  });
});
