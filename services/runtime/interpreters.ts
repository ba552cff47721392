/** The Python interpreters of this machine, for scripts that want a certain one. */
import { listPythons, type Python } from './sandbox/python.ts';

export class Interpreters {
  readonly #usual: Python;
  readonly #path: string;
  #found: Promise<readonly Python[]> | undefined;

  /** @param usual what runs that want none get
   *  @param path where others are looked up, once they are asked for */
  constructor(usual: Python, path: string) {
    this.#usual = usual;
    this.#path = path;
  }

  /** @param version `3` or such as `3.12`; `null` for the usual one
   *  @returns the interpreter, or the sentence that says which there are */
  async of(version: string | null): Promise<Python | string> {
    if (version === null || fits(this.#usual, version)) return this.#usual;
    this.#found ??= listPythons(this.#path);
    const there = [this.#usual, ...(await this.#found)];
    const found = there.find((one) => fits(one, version));
    if (found !== undefined) return found;
    const versions = [...new Set(there.map((one) => one.version))].join(', ');
    return `The script wants Python ${version}; this runtime has ${versions}.`;
  }
}

function fits({ version }: Python, wanted: string): boolean {
  return version === wanted || version.startsWith(`${wanted}.`);
}
