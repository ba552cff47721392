/** What a tool is: data, from which the protocol's side is made. */
import type { Static, TObject, TSchema } from 'typebox';
import type { Api } from '#services/shared/api-client.ts';

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** For the one who chooses: what it does, and when it is the right one. */
  readonly description: string;
  readonly input: TObject;
  readonly output: TObject;
  readonly effect: Effect;
  readonly handle: (given: never, use: ToolUse) => Promise<object>;
}

/** `reads`: changes nothing. `adds`: what was there stays. `replaces`: what was there may go. */
export type Effect = 'reads' | 'adds' | 'replaces';

export interface ToolUse {
  /** With the caller's token. */
  readonly api: Api;
  /** Tells how far it has come; `total` where it is known. */
  readonly progress: (done: number, total: number | undefined, message: string) => Promise<void>;
  /** Aborted when the caller cancels the request. */
  readonly signal: AbortSignal;
}

/** Checks that the parts of a tool fit each other. */
export function tool<Input extends TObject, Output extends TObject>(
  definition: Omit<Tool, 'input' | 'output' | 'handle'> & {
    readonly input: Input;
    readonly output: Output;
    readonly handle: (given: Static<Input>, use: ToolUse) => Promise<Static<Output>>;
  },
): Tool {
  return definition;
}

/** Of an answer, what the schema names: callers pay for every word that they are sent. */
export function picked<Schema extends TObject>(schema: Schema, answer: object): Static<Schema> {
  const names = Object.keys(schema.properties as Readonly<Record<string, TSchema>>);
  const known = answer as Readonly<Record<string, unknown>>;
  return Object.fromEntries(names.map((name) => [name, known[name] ?? null])) as Static<Schema>;
}
