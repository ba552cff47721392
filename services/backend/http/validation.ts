/** Validates requests with the schemas of the API description. */
import { contentFault, faultOf, type Fault } from '#services/shared/faults.ts';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { TSchema } from 'typebox';
import { problem, type Problem } from './problem.ts';

/** The format of a UUID of any version. */
export const uuidFormat = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

// Converts values only in queries, whose values are text: `limit=5` becomes a number. Bodies are not converted.
const bodies = compilerWith({ allErrors: false, verbose: true });
const queries = compilerWith({ coerceTypes: true });

function compilerWith(options: ConstructorParameters<typeof Ajv2020>[0]): Ajv2020 {
  const ajv = new Ajv2020({ useDefaults: true, strict: false, ...options });
  ajv.addFormat('uuid', uuidFormat);
  ajv.addFormat('date-time', { type: 'string', validate: isTime });
  return ajv;
}

const time = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Whether the text is an RFC 3339 time on an existing date. */
export function isTime(text: string): boolean {
  if (!time.test(text)) return false;
  const instant = Date.parse(text);
  if (Number.isNaN(instant) || new Date(instant).getUTCFullYear() <= 0) return false;
  // `Date` parses 30 February as 2 March.
  const day = text.slice(0, 10);
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

// Schemas are compiled on first use, because an idle process calls few operations.
const compiled = new WeakMap<TSchema, ValidateFunction>();

function validatorOf(ajv: Ajv2020, schema: TSchema): ValidateFunction {
  let validate = compiled.get(schema);
  if (validate === undefined) {
    validate = ajv.compile(schema);
    compiled.set(schema, validate);
  }
  return validate;
}

/** Validates a body and fills in defaults. @returns the problem, if any */
export function bodyProblem(schema: TSchema, value: unknown): Problem | undefined {
  const validate = validatorOf(bodies, schema);
  if (validate(value)) return undefined;
  const errors = ofVariant(validate.errors ?? [])
    .slice(0, 20)
    .map(faultOf);
  return problem('validation_failed', summaryOf(errors), { errors });
}

interface Variant extends TSchema {
  readonly properties?: Readonly<Record<string, { readonly const?: unknown }>>;
}

/** Replaces the errors of a union with those of the variant that the value selects, for example by its `kind`. */
function ofVariant(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const union = errors.findLast(({ keyword }) => keyword === 'anyOf');
  if (union === undefined) return errors;
  const value = union.data as Record<string, unknown> | null;
  const isNamed = ({ properties = {} }: Variant) => {
    const names = Object.entries(properties).filter(([, one]) => one.const !== undefined);
    return names.length > 0 && names.every(([name, one]) => value?.[name] === one.const);
  };
  const [variant, ...others] = (union.schema as readonly Variant[]).filter(isNamed);
  if (variant === undefined || others.length > 0) return errors;
  const validate = validatorOf(bodies, variant);
  validate(value);
  return ofVariant(validate.errors ?? []).map((error) => ({
    ...error,
    instancePath: union.instancePath + error.instancePath,
  }));
}

/** Validates a query and converts its text to the types of the schema. @returns the problem, if any */
export function queryProblem(schema: TSchema, value: unknown): Problem | undefined {
  const validate = validatorOf(queries, schema);
  if (validate(value)) return undefined;
  const [first] = (validate.errors ?? []).map(faultOf);
  const name = first?.pointer.slice(1) ?? '';
  return problem(
    'invalid_parameter',
    `The parameter "${name}" ${first?.detail ?? 'is not valid'}.`,
  );
}

function summaryOf(errors: readonly Fault[]): string {
  const [first] = errors;
  if (first === undefined) return 'The body does not match its schema.';
  return first.pointer === ''
    ? `The body ${first.detail}.`
    : `The field "${first.pointer.slice(1)}" ${first.detail}.`;
}

/** The problem if a text cannot be stored in the database, or if the value is nested too deeply. */
export function contentProblem(root: unknown, anyText: boolean): Problem | undefined {
  const found = contentFault(root, anyText);
  if (found === undefined) return undefined;
  return problem('validation_failed', `The body ${found.detail}.`, { errors: [found] });
}
