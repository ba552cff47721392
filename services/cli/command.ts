/** A command as data, which parsing, help and completions use. */
import type { Session } from './session.ts';
import type { Terminal } from './terminal.ts';

export interface Option {
  /** The name of its value in the help; without it, the option is a switch. */
  readonly value?: string;
  readonly short?: string;
  readonly multiple?: boolean;
  /** A switch that `--no-NAME` turns off. */
  readonly negatable?: boolean;
  readonly help: string;
  readonly choices?: readonly string[];
}

export interface Command {
  /** One or two words, such as `sync push`. */
  readonly name: string;
  /** Its arguments, such as `SCRIPT [FOLDER]`. */
  readonly arguments: string;
  readonly summary: string;
  /** Further sentences for its help. */
  readonly details?: string;
  readonly options?: Readonly<Record<string, Option>>;
  /** A command line, and its purpose. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  /** @returns the exit code @throws CommandProblem, ApiProblem */
  readonly run: (use: Use) => Promise<number>;
}

/** The inputs of a command. */
export interface Use {
  readonly args: readonly string[];
  readonly options: Options;
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder that it was started in. */
  readonly folder: string;
  /** A signal that Ctrl-C aborts. */
  readonly signal: AbortSignal;
  /** The complete standard input as text. */
  readonly input: () => Promise<string>;
  /** The session of the requested profile. @throws CommandProblem */
  readonly session: () => Promise<Session>;
}

/** The given options. */
export class Options {
  readonly #values: Readonly<Record<string, Given>>;

  constructor(values: Readonly<Record<string, Given>>) {
    this.#values = values;
  }

  has(name: string): boolean {
    return this.#values[name] === true;
  }

  /** undefined without `--NAME` and `--no-NAME`. */
  flag(name: string): boolean | undefined {
    const value = this.#values[name];
    return typeof value === 'boolean' ? value : undefined;
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === 'string' ? value : undefined;
  }

  texts(name: string): readonly string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? value.map(String) : [];
  }

  /** Whether results are for a program. */
  get json(): boolean {
    return this.text('output') === 'json' || this.has('json');
  }
}

type Given = string | boolean | readonly (string | boolean)[] | undefined;
