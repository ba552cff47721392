/** Finds Python interpreters on this machine for scripts that request a version. */
import { listPythons, type Python } from './sandbox/python.ts';
import { managedInterpreters } from './version-managers.ts';

export class Interpreters {
  readonly #usual: Python;
  readonly #environment: Readonly<Record<string, string | undefined>>;
  #found: readonly Python[] = [];
  #looking: Promise<readonly Python[]> | undefined;

  /** @param usual the default interpreter
   *  @param environment variables for the search, such as `PATH` and `HOME` */
  constructor(usual: Python, environment: Readonly<Record<string, string | undefined>>) {
    this.#usual = usual;
    this.#environment = environment;
  }

  /** Finds an interpreter. If no known interpreter matches, searches the machine again, so that new interpreters are
   *  found without a restart.
   *  @param version such as `3` or `3.12`, or `null` for the default
   *  @returns the interpreter, or a sentence that lists the available versions */
  async of(version: string | null): Promise<Python | string> {
    if (version === null || fits(this.#usual, version)) return this.#usual;
    const known = this.#found.find((one) => fits(one, version));
    if (known !== undefined) return known;
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    this.#found = await this.#looking;
    const there = [this.#usual, ...this.#found];
    const found = there.find((one) => fits(one, version));
    if (found !== undefined) return found;
    const versions = [...new Set(there.map((one) => one.version))].join(', ');
    return (
      `The script requires Python ${version}, but this runtime has ${versions}. Install it on the ` +
      `runtime's machine, for example with \`uv python install ${version}\`.`
    );
  }

  async #look(): Promise<readonly Python[]> {
    const managed = await managedInterpreters(this.#environment);
    return await listPythons(this.#environment['PATH'] ?? '', managed);
  }
}

function fits({ version }: Python, wanted: string): boolean {
  return version === wanted || version.startsWith(`${wanted}.`);
}
