/** Determines a script's requirements from its `requirements.txt`, or else from its entry point's inline metadata
 *  (PEP 723). */
import { readFile } from 'node:fs/promises';
import { readInlineMetadata } from './environments/inline-metadata.ts';
import { isWantedPython } from './environments/python-versions.ts';
import type { RunFile } from './sandbox/sandbox.ts';

export type Wanted =
  /** The requirements in the format of a `requirements.txt`. Empty if there are none. */
  | { readonly requirements: string }
  /** Why no environment can be built, as a message for the script's author. */
  | { readonly problem: string };

const maxRemembered = 1_000;

export class WantedPackages {
  /** Cached results. The keys consist of the immutable file copies and the interpreter. The most recently used
   *  result is last. */
  readonly #answers = new Map<string, Promise<Wanted>>();

  /** Returns the requirements.
   *  @param pythonVersion the version of the run's interpreter, such as `3.12.1` */
  async of(files: readonly RunFile[], entrypoint: string, pythonVersion: string): Promise<Wanted> {
    const listed = files.find(({ path }) => path === 'requirements.txt');
    const read = listed ?? files.find(({ path }) => path === entrypoint);
    const key = `${read?.source ?? ''} ${entrypoint} ${pythonVersion}`;
    const answer = this.#answers.get(key) ?? readWanted(read, entrypoint, pythonVersion);
    this.#answers.delete(key);
    this.#answers.set(key, answer);
    const [oldest = ''] = this.#answers.keys();
    if (this.#answers.size > maxRemembered) this.#answers.delete(oldest);
    answer.catch(() => this.#answers.delete(key));
    return await answer;
  }
}

async function readWanted(
  file: RunFile | undefined,
  entrypoint: string,
  pythonVersion: string,
): Promise<Wanted> {
  const text = file === undefined ? '' : await readFile(file.source, 'utf8');
  if (file?.path === 'requirements.txt') return { requirements: text };
  const metadata = readInlineMetadata(text, entrypoint);
  switch (metadata.status) {
    case 'none':
      return { requirements: '' };
    case 'invalid':
      return { problem: metadata.problem };
    case 'found':
      return (
        pythonProblem(metadata.requiresPython, pythonVersion, entrypoint) ?? {
          requirements: metadata.requirements,
        }
      );
  }
}

function pythonProblem(
  wanted: string | undefined,
  version: string,
  entrypoint: string,
): { readonly problem: string } | undefined {
  const isWanted = wanted === undefined ? true : isWantedPython(wanted, version);
  if (isWanted === true) return undefined;
  const says = `${entrypoint} declares requires-python = "${wanted}"`;
  return isWanted === undefined
    ? { problem: `${says}, which is not valid.` }
    : {
        problem: `${says}, but its interpreter is Python ${version}. Change "python" in the settings of the script.`,
      };
}
