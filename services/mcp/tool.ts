/** A tool as data, from which the protocol definition is generated. */
import type { Static, TObject, TSchema } from 'typebox';
import type { Api } from '#services/shared/api-client.ts';

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** Tells the model what the tool does and when to use it. */
  readonly description: string;
  readonly input: TObject;
  readonly output: TObject;
  readonly effect: Effect;
  readonly handle: (given: never, use: ToolUse) => Promise<object>;
}

/** `reads`: changes nothing. `adds`: keeps existing data. `replaces`: may replace or delete data. */
export type Effect = 'reads' | 'adds' | 'replaces';

export interface ToolUse {
  /** The API client, with the caller's token. */
  readonly api: Api;
  /** Reports progress. `total` is `undefined` if it is unknown. */
  readonly progress: (done: number, total: number | undefined, message: string) => Promise<void>;
  /** Aborted when the caller cancels the request. */
  readonly signal: AbortSignal;
}

/** Defines a tool. The types ensure that its handler matches its schemas. */
export function tool<Input extends TObject, Output extends TObject>(
  definition: Omit<Tool, 'input' | 'output' | 'handle'> & {
    readonly input: Input;
    readonly output: Output;
    readonly handle: (given: Static<Input>, use: ToolUse) => Promise<Static<Output>>;
  },
): Tool {
  return definition;
}

/** Selects the fields of a response that the schema lists, because callers pay for every token. A missing field becomes
 *  null, or is omitted if the schema permits it. */
export function picked<Schema extends TObject>(schema: Schema, answer: object): Static<Schema> {
  const names = Object.keys(schema.properties as Readonly<Record<string, TSchema>>);
  const known = answer as Readonly<Record<string, unknown>>;
  const required: readonly string[] = schema.required ?? [];
  const shown = names.filter((name) => required.includes(name) || known[name] !== undefined);
  return Object.fromEntries(shown.map((name) => [name, known[name] ?? null])) as Static<Schema>;
}
