/** Validates users' JSON Schemas, and values against these schemas. Runs in a separate process, because a schema can
 *  make its compilation or a validation arbitrarily slow. */
import { createHash } from 'node:crypto';
import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { faultOf, type Fault } from '../faults.ts';

type Schema = Readonly<Record<string, unknown>>;

const maxCompiled = 100;
const maxFaults = 20;

const options = {
  strict: false,
  allErrors: true,
  // Formats are annotations that are not validated, which is the default in the JSON Schema standard.
  validateFormats: false,
  logger: false,
} as const;
/** Each schema has its own Ajv instance, so that it cannot refer to other schemas or to the meta-schemas. */
const alone = { ...options, meta: false, validateSchema: false } as const;

const dialects = {
  'https://json-schema.org/draft/2020-12/schema': {
    standard: () => new Ajv2020(options),
    compiler: () => new Ajv2020(alone),
  },
  'http://json-schema.org/draft-07/schema': {
    standard: () => new Ajv(options),
    compiler: () => new Ajv(alone),
  },
} as const;

type Dialect = keyof typeof dialects;

export class Examination {
  readonly #standards = new Map<Dialect, Ajv | Ajv2020>();
  /** Compiled schemas by hash; the most recently used schema comes last. */
  readonly #compiled = new Map<string, ValidateFunction>();

  /** Returns the errors in a schema, with JSON pointers. @param text the schema as JSON */
  ofSchema(text: string): readonly Fault[] {
    const compiled = this.#compile(text);
    return typeof compiled === 'function' ? [] : compiled;
  }

  /** Returns the validation errors of a value, with JSON pointers. An unusable schema is reported as an error. */
  ofValue(schemaText: string, valueText: string): readonly Fault[] {
    const compiled = this.#compile(schemaText);
    if (typeof compiled !== 'function') {
      return compiled.map(({ detail }) => fault('', `cannot be checked: ${detail}`));
    }
    try {
      if (compiled(JSON.parse(valueText))) return [];
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return [fault('', 'cannot be checked: the schema references itself endlessly')];
    }
    return (compiled.errors ?? []).slice(0, maxFaults).map(faultOf);
  }

  #compile(text: string): ValidateFunction | readonly Fault[] {
    const name = createHash('sha256').update(text).digest('base64url');
    const present = this.#compiled.get(name);
    this.#compiled.delete(name);
    const compiled = present ?? this.#make(JSON.parse(text) as Schema);
    if (typeof compiled === 'function') this.#remember(name, compiled);
    return compiled;
  }

  #make(schema: Schema): ValidateFunction | readonly Fault[] {
    const dialect = dialectOf(schema);
    if (dialect === undefined) {
      return [fault('/$schema', `is not one of ${Object.keys(dialects).join(' and ')}`)];
    }
    if (schema['$async'] !== undefined) return [fault('/$async', 'is not supported')];
    const standard = this.#standardOf(dialect);
    if (standard.validateSchema(schema) !== true) {
      return (standard.errors ?? []).slice(0, maxFaults).map(faultOf);
    }
    try {
      return dialects[dialect].compiler().compile(schema);
    } catch (error) {
      if (error instanceof Error) return [fault('', `is not valid: ${error.message}`)];
      throw error;
    }
  }

  #standardOf(dialect: Dialect): Ajv | Ajv2020 {
    const standard = this.#standards.get(dialect) ?? dialects[dialect].standard();
    this.#standards.set(dialect, standard);
    return standard;
  }

  /** Stores a compiled schema, and evicts the least recently used schema if the cache is full. */
  #remember(name: string, compiled: ValidateFunction): void {
    this.#compiled.set(name, compiled);
    const [oldest] = this.#compiled.size > maxCompiled ? this.#compiled.keys() : [];
    if (oldest !== undefined) this.#compiled.delete(oldest);
  }
}

function dialectOf(schema: Schema): Dialect | undefined {
  const { $schema: named = 'https://json-schema.org/draft/2020-12/schema' } = schema;
  const name = typeof named === 'string' ? named.replace(/#$/, '') : '';
  return name in dialects ? (name as Dialect) : undefined;
}

function fault(pointer: string, detail: string): Fault {
  return { pointer, detail };
}
