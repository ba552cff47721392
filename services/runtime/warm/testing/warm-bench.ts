/** Runs scripts with both a new and a warm interpreter to compare the results. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { askInterpreter, type Interpreter } from '../../environments/interpreter.ts';
import {
  makeVirtualEnvironment,
  packagesOf,
  pythonOf,
  type BaseInterpreter,
} from '../../environments/virtual-environment.ts';
import type { LocalSandboxOptions } from '../../sandbox/local-sandbox.ts';
import type { RunSpec } from '../../sandbox/sandbox.ts';
import { Bench, parentOf, until, type Outcome, type Running } from '../../sandbox/testing/bench.ts';
import { safeModules } from '../safe-modules.ts';

export type Files = Readonly<Record<string, string | Uint8Array>>;

export class WarmBench {
  readonly bench: Bench;
  /** The environment's own packages. */
  readonly packages: string;
  /** The environment's own interpreter. */
  readonly python: string;
  readonly environment: string;
  readonly #interpreter: BaseInterpreter;
  #scripts = 0;

  private constructor(bench: Bench, environment: string, interpreter: Interpreter) {
    this.bench = bench;
    this.packages = packagesOf(environment, interpreter);
    this.environment = environment;
    const { executable, version } = interpreter;
    this.#interpreter = { executable, version };
    this.python = pythonOf(environment);
  }

  static async open(options: Partial<LocalSandboxOptions> = {}): Promise<WarmBench> {
    const bench = await Bench.open({ maxKeepers: 2, ...options });
    const interpreter = await askInterpreter(bench.python.executable);
    const environment = join(bench.folder, 'environment');
    await makeVirtualEnvironment(environment, interpreter);
    return new WarmBench(bench, environment, interpreter);
  }

  close(): Promise<void> {
    return this.bench.close();
  }

  /** Returns the specification for a run of these files in a new interpreter. */
  async cold(files: Files, change: Partial<RunSpec> = {}): Promise<RunSpec> {
    this.#scripts += 1;
    const folder = join(this.bench.folder, 'scripts', String(this.#scripts));
    const copies = Object.entries(files).map(async ([path, content]) => {
      const source = join(folder, path);
      await mkdir(dirname(source), { recursive: true });
      await writeFile(source, content);
      return { path, source, mode: 0o644 };
    });
    return {
      ...this.bench.spec('hello.py'),
      argv: [pythonOf(this.environment), 'main.py'],
      env: { LANG: 'C.UTF-8', PYTHONUNBUFFERED: '1', PYTHONDONTWRITEBYTECODE: '1', NAME: 'ä' },
      files: await Promise.all(copies),
      readOnly: [...this.bench.python.prefixes, this.environment],
      ...change,
    };
  }

  /** Returns the specification for a run of these files in a warm interpreter with all permitted modules. */
  async warm(files: Files, change: Partial<RunSpec> = {}): Promise<RunSpec> {
    const warm = { interpreter: this.#interpreter, modules: [...safeModules] };
    return { ...(await this.cold(files, change)), warm };
  }

  /** Waits until there is a keeper for runs with this specification.
   *  @returns the keeper's process ID */
  async kept(spec: RunSpec): Promise<number> {
    const before = this.bench.sandbox.keeperPids;
    await this.outcome(spec);
    const added = () => this.bench.sandbox.keeperPids.find((pid) => !before.includes(pid));
    await until(() => added() !== undefined);
    return added() ?? 0;
  }

  async outcome(spec: RunSpec): Promise<Outcome> {
    const running = await this.bench.start(spec);
    const outcome = await running.outcome();
    await running.run.closed;
    return outcome;
  }

  /** Returns the keeper's process ID if a keeper executes the run. */
  async keeperOf({ run }: Running): Promise<number> {
    return await parentOf(await parentOf(await parentOf(run.pid)));
  }
}
