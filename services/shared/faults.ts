/** Describes validation errors in values that clients send. */
import { isStorable } from '#domain/kernel/json.ts';
import type { ErrorObject } from 'ajv';

/** A validation error. `pointer` locates the invalid value as a JSON Pointer (RFC 6901). */
export interface Fault {
  readonly pointer: string;
  readonly detail: string;
}

/** Why a request was refused. Each API formats the reason differently. */
export interface Objection {
  readonly kind: 'problem';
  readonly code: 'not_found' | 'payload_too_large' | 'unavailable' | 'validation_failed';
  /** Explains the problem to the user in one sentence. */
  readonly detail: string;
  readonly errors?: readonly Fault[];
}

export function objection(
  code: Objection['code'],
  detail: string,
  more: Pick<Objection, 'errors'> = {},
): Objection {
  return { kind: 'problem', code, detail, ...more };
}

/** Converts a validator error to a `Fault`. */
export function faultOf(error: ErrorObject): Fault {
  const { instancePath: at, keyword, params } = error;
  switch (keyword) {
    case 'additionalProperties':
      return { pointer: `${at}/${escaped(params['additionalProperty'])}`, detail: 'is unknown' };
    case 'required':
      return { pointer: `${at}/${escaped(params['missingProperty'])}`, detail: 'is required' };
    case 'enum':
      return { pointer: at, detail: `must be one of ${listed(params['allowedValues'])}` };
    default:
      return { pointer: at, detail: error.message ?? 'is not valid' };
  }
}

function listed(values: unknown): string {
  return (values as readonly unknown[]).map((value) => JSON.stringify(value)).join(', ');
}

/** Escapes a name for use in a JSON Pointer. */
export function escaped(name: unknown): string {
  return String(name).replaceAll('~', '~0').replaceAll('/', '~1');
}

const maxDepth = 64;

/** Finds text that the database cannot store, and excessive nesting. The search is not recursive, because deep nesting
 *  would overflow the stack. */
export function contentFault(root: unknown, anyText: boolean): Fault | undefined {
  const waiting: { value: unknown; pointer: string; depth: number }[] = [
    { value: root, pointer: '', depth: 0 },
  ];
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    const { value, pointer, depth } = one;
    if (typeof value === 'string' && !anyText && !isStorable(value)) {
      return { pointer, detail: 'contains a NUL character or an unpaired surrogate' };
    }
    if (typeof value !== 'object' || value === null) continue;
    if (depth === maxDepth)
      return { pointer, detail: `is nested more than ${maxDepth} levels deep` };
    for (const [name, child] of Object.entries(value)) {
      if (!isStorable(name))
        return {
          pointer,
          detail: 'has a property name with a NUL character or an unpaired surrogate',
        };
      waiting.push({ value: child, pointer: `${pointer}/${escaped(name)}`, depth: depth + 1 });
    }
  }
  return undefined;
}
