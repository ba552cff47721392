/** A command as data, which parsing, help and completions use. */
import type { Session } from './session.ts';
import type { Terminal } from './terminal.ts';

export interface Option {
  /** The name of the option's value in the help. An option without a value is a switch. */
  readonly value?: string;
  readonly short?: string;
  readonly multiple?: boolean;
  /** Whether `--no-NAME` turns the switch off. */
  readonly negatable?: boolean;
  readonly help: string;
  readonly choices?: readonly string[];
}

export interface Command {
  /** One or two words, such as `sync push`. */
  readonly name: string;
  /** The arguments of the command, such as `SCRIPT [FOLDER]`. */
  readonly arguments: string;
  readonly summary: string;
  /** Additional sentences for the command's help. */
  readonly details?: string;
  readonly options?: Readonly<Record<string, Option>>;
  /** Command lines, each with its purpose. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  /** Executes the command.
   *  @returns the exit code
   *  @throws CommandProblem, ApiProblem */
  readonly run: (use: Use) => Promise<number>;
}

/** The inputs of a command. */
export interface Use {
  readonly args: readonly string[];
  readonly options: Options;
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The program's working folder. */
  readonly folder: string;
  /** A signal that Ctrl-C aborts. */
  readonly signal: AbortSignal;
  /** The complete standard input as text. */
  readonly input: () => Promise<string>;
  /** Opens the session of the requested profile. @throws CommandProblem */
  readonly session: () => Promise<Session>;
}

/** The options of a command line. */
export class Options {
  readonly #values: Readonly<Record<string, Given>>;

  constructor(values: Readonly<Record<string, Given>>) {
    this.#values = values;
  }

  has(name: string): boolean {
    return this.#values[name] === true;
  }

  /** `undefined` if neither `--NAME` nor `--no-NAME` is given. */
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

  /** Whether to print results as JSON, for programs. */
  get json(): boolean {
    return this.text('output') === 'json' || this.has('json');
  }
}

type Given = string | boolean | readonly (string | boolean)[] | undefined;
