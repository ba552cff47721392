/** Whether a run may start in a kept interpreter, and with which modules imported already. */
import { readFile } from 'node:fs/promises';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import { isAsMade } from '../environments/virtual-environment.ts';
import { startVariables } from '../sandbox/keeper-process.ts';
import type { RunFile, WarmStart } from '../sandbox/sandbox.ts';
import { safeImportsOf, shadowsLibrary } from './imports.ts';

const maxRemembered = 1_000;
const maxFiles = 200;

/** Variables that change an interpreter or its libraries while they start, which a kept one has done. */
const readAtStart = /^(PYTHON|LD_|LC_|GLIBC_|MALLOC_|OPENSSL_|LANG|LOCPATH|NLSPATH|GCONV_PATH)/;

export interface WarmQuestion {
  readonly run: ClaimedRun;
  readonly files: readonly RunFile[];
  readonly environmentFolder: string;
  /** Absolute path of the interpreter that the environment was made from. */
  readonly interpreter: string;
  /** The run's complete environment. */
  readonly variables: Readonly<Record<string, string>>;
}

export class WarmStarts {
  /** By version and environment, the latest last. */
  readonly #answers = new Map<string, Promise<WarmStart | undefined>>();

  /** @returns `undefined` when an interpreter is to be started for the run. Never rejects */
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

/** Whether an interpreter finds at its start what a kept one has found. */
function startsAlike(variables: Readonly<Record<string, string>>): boolean {
  const alike: Readonly<Record<string, string>> = startVariables;
  return Object.entries(variables).every(([name, value]) =>
    readAtStart.test(name) ? alike[name] === value : true,
  );
}

async function answerTo(question: WarmQuestion): Promise<WarmStart | undefined> {
  const { files, environmentFolder, interpreter } = question;
  if (shadowsLibrary(files.map(({ path }) => path))) return undefined;
  // A build runs foreign code: what it changed here would be executed outside of the sandbox.
  if (!(await isAsMade(environmentFolder, interpreter))) return undefined;
  const sources = files.filter(({ path }) => path.endsWith('.py')).slice(0, maxFiles);
  const texts = await Promise.all(sources.map(({ source }) => readFile(source, 'utf8')));
  return { modules: safeImportsOf(texts) };
}
