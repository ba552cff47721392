/** Reads the API operations for commands from `operations.json`, which `write-operations.ts` generates from
 *  `docs/openapi.json`. The table is small enough to be read on every start. */
import { readFileSync } from 'node:fs';

/** The kind of an option, which determines how the option's text is converted to a value. */
export type FieldKind = 'text' | 'number' | 'switch' | 'json' | 'secret';

export interface Field {
  /** The name in the API, such as `script_id`. */
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'body';
  /** The option, or the positional argument, such as `script` or `SCRIPT`. */
  readonly label: string;
  readonly kind: FieldKind;
  readonly required?: true;
  readonly nullable?: true;
  /** Whether the value is an array. The option can then be repeated. */
  readonly many?: true;
  readonly choices?: readonly string[];
  /** The kind of resource that a name refers to, such as `script`. */
  readonly refersTo?: string;
  readonly help: string;
}

export interface ApiOperation {
  readonly id: string;
  /** The name of the command. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly details?: string;
  /** The arguments and options of an example command line. */
  readonly example: string;
  readonly fields: readonly Field[];
  /** Whether the operation requires a password, because it refuses API tokens. */
  readonly session?: true;
  /** The content type of the body, if the body is a file. */
  readonly upload?: string;
  /** Whether the command saves the response to a file. */
  readonly download?: true;
  /** Whether the response is a page of a list with `next_cursor`. */
  readonly pages?: true;
  readonly destructive?: true;
  /** Whether a repeated request with the same `Idempotency-Key` returns the same response. False if the first response
   *  contains a secret. */
  readonly repeatable?: true;
}

/** The URL of the table. */
export const operationsFile = new URL('operations.json', import.meta.url);

/** Reads the table. */
export function readOperations(): readonly ApiOperation[] {
  return JSON.parse(readFileSync(operationsFile, 'utf8')) as readonly ApiOperation[];
}
