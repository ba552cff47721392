/** Decides whether a run may start in a warm interpreter, and which modules to preload for it. */
import { readdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import { isAsMade, type BaseInterpreter } from '../environments/virtual-environment.ts';
import { startVariables } from '../sandbox/keeper-process.ts';
import type { Python } from '../sandbox/python.ts';
import type { RunFile, WarmStart } from '../sandbox/sandbox.ts';
import { safeImportsOf, shadowsLibrary } from './imports.ts';

const maxRemembered = 1_000;
const maxFiles = 200;

/** Variables that an interpreter or its libraries read only at startup. Setting them in a warm interpreter would
 *  have no effect. */
const readAtStart = /^(PYTHON|LD_|LC_|GLIBC_|MALLOC_|OPENSSL_|LANG|LOCPATH|NLSPATH|GCONV_PATH)/;

/** Matches code that uses subinterpreters. In a warm interpreter, subinterpreters would have the keeper's start
 *  options and lack the changes that `site` makes. */
const usesSubinterpreters = /interpreters\b|InterpreterPoolExecutor/;

export interface WarmQuestion {
  readonly run: ClaimedRun;
  readonly files: readonly RunFile[];
  readonly environmentFolder: string;
  /** The interpreter from which the environment was created. Its path may be a link. */
  readonly interpreter: Pick<Python, 'executable' | 'version'>;
  /** The run's complete environment. */
  readonly variables: Readonly<Record<string, string>>;
}

export class WarmStarts {
  /** Cached decisions by version and environment. The most recently cached decision is last. */
  readonly #answers = new Map<string, Promise<WarmStart | undefined>>();

  /** Decides how a run may start. Never rejects.
   *  @returns `undefined` if the run needs a new interpreter */
  async of(question: WarmQuestion): Promise<WarmStart | undefined> {
    const { run, environmentFolder, variables } = question;
    if (run.startMode === 'cold' || !startsAlike(variables)) return undefined;
    const key = `${run.scriptId} ${run.scriptVersion} ${environmentFolder}`;
    const known = this.#answers.get(key);
    if (known !== undefined) return await known;
    const answer = answerTo(question).catch(() => undefined);
    this.#answers.set(key, answer);
    const [oldest = ''] = this.#answers.keys();
    if (this.#answers.size > maxRemembered) this.#answers.delete(oldest);
    return await answer;
  }
}

/** Whether a new interpreter would start with the same settings as the keeper. */
function startsAlike(variables: Readonly<Record<string, string>>): boolean {
  const alike: Readonly<Record<string, string>> = startVariables;
  return Object.entries(variables).every(([name, value]) =>
    readAtStart.test(name) ? alike[name] === value : true,
  );
}

async function answerTo(question: WarmQuestion): Promise<WarmStart | undefined> {
  const { run, files, environmentFolder, interpreter } = question;
  const paths = files.map(({ path }) => path);
  // If the entry point is missing, the error message contains the interpreter's own name, which differs for a keeper.
  if (!paths.includes(run.entrypoint) || shadowsLibrary(paths)) return undefined;
  const base = { ...interpreter, executable: await realpath(interpreter.executable) };
  if (!(await startsAsMade(environmentFolder, base))) return undefined;
  const sources = files.filter(({ path }) => path.endsWith('.py')).slice(0, maxFiles);
  const texts = await Promise.all(sources.map(({ source }) => readFile(source, 'utf8')));
  if (texts.some((text) => usesSubinterpreters.test(text))) return undefined;
  return { interpreter: base, modules: safeImportsOf(texts) };
}

/** Whether a cold start in this environment behaves as if the environment were new. Warm starts rely on this. */
async function startsAsMade(folder: string, interpreter: BaseInterpreter): Promise<boolean> {
  const programs = await readdir(join(folder, 'bin'));
  return !programs.some((name) => name.endsWith('._pth')) && isAsMade(folder, interpreter);
}
