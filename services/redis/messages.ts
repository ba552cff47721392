/** Parses and validates JSON arguments before a command changes anything. */
import { contentFault, faultOf, objection, type Objection } from '#services/shared/faults.ts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Static, TSchema } from 'typebox';

const compiler = new Ajv2020({ strict: false });

/** Missing and inaccessible resources have the same message, so that it reveals nothing. */
export const notFound = objection(
  'not_found',
  'The resource does not exist, or you do not have access to it.',
);

/** Creates a parser for messages with a given schema. @param what the beginning of error messages */
export function messageReader<Schema extends TSchema>(
  schema: Schema,
  what: string,
): (text: Buffer) => { readonly value: Static<Schema> } | Objection {
  const validate = compiler.compile(schema);
  const wrong = (detail: string): Objection => objection('validation_failed', detail);
  return (text) => {
    const value = parsed(text);
    if (value === undefined) return wrong(`${what} is not JSON in UTF-8.`);
    const content = contentFault(value, false);
    if (content !== undefined) return wrong(`${what} ${content.detail}.`);
    if (validate(value)) return { value: value as Static<Schema> };
    const { pointer, detail } = faultOf(validate.errors?.[0] ?? ({ keyword: '' } as never));
    return wrong(
      pointer === '' ? `${what} ${detail}.` : `The field "${pointer.slice(1)}" ${detail}.`,
    );
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parsed(text: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(text)) as unknown;
  } catch {
    return undefined;
  }
}
