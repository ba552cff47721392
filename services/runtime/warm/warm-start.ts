/** Decides whether a run may start in a warm interpreter, and which modules are preloaded for it. */
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

/** Variables that an interpreter or its libraries read only when they start. Setting them for a warm interpreter would
 *  have no effect. */
const readAtStart = /^(PYTHON|LD_|LC_|GLIBC_|MALLOC_|OPENSSL_|LANG|LOCPATH|NLSPATH|GCONV_PATH)/;

/** Code with subinterpreters. In a warm interpreter, these would have the options of the keeper's start, and not the
 *  result of `site`. */
const usesSubinterpreters = /interpreters\b|InterpreterPoolExecutor/;

export interface WarmQuestion {
  readonly run: ClaimedRun;
  readonly files: readonly RunFile[];
  readonly environmentFolder: string;
  /** The interpreter that the environment was made from; its path may be a link. */
  readonly interpreter: Pick<Python, 'executable' | 'version'>;
  /** The run's complete environment. */
  readonly variables: Readonly<Record<string, string>>;
}

export class WarmStarts {
  /** Cached by version and environment, most recently cached last. */
  readonly #answers = new Map<string, Promise<WarmStart | undefined>>();

  /** Decides about a run. Never rejects. @returns `undefined` if the run needs a new interpreter */
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
  // If the entry point is missing, the interpreter's error message contains its own name, which differs for a keeper.
  if (!paths.includes(run.entrypoint) || shadowsLibrary(paths)) return undefined;
  const base = { ...interpreter, executable: await realpath(interpreter.executable) };
  if (!(await startsAsMade(environmentFolder, base))) return undefined;
  const sources = files.filter(({ path }) => path.endsWith('.py')).slice(0, maxFiles);
  const texts = await Promise.all(sources.map(({ source }) => readFile(source, 'utf8')));
  if (texts.some((text) => usesSubinterpreters.test(text))) return undefined;
  return { interpreter: base, modules: safeImportsOf(texts) };
}

/** Whether a cold start in this environment would behave as if the environment were new. Warm starts assume this. */
async function startsAsMade(folder: string, interpreter: BaseInterpreter): Promise<boolean> {
  const programs = await readdir(join(folder, 'bin'));
  return !programs.some((name) => name.endsWith('._pth')) && isAsMade(folder, interpreter);
}
