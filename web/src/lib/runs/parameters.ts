/** The form for the parameters of a run, derived from the JSON Schema of the script. */

export interface ParameterField {
  readonly name: string;
  readonly kind: 'text' | 'number' | 'flag' | 'choice' | 'json';
  readonly label: string;
  readonly hint: string | undefined;
  readonly required: boolean;
  /** The permitted values, as JSON. */
  readonly choices: readonly string[];
  /** The initial value. */
  readonly initial: string | boolean;
}

export type FieldValues = Record<string, string | boolean>;

type Schema = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, unknown>>;

/** One field for each property of the schema, in its order; a single JSON field if it has no properties.
 *  @param given initial values, which take precedence over the defaults of the schema */
export function fieldsOf(schema: Schema | null, given: Params | null): readonly ParameterField[] {
  const properties = Object.entries(asSchema(schema?.['properties']) ?? {});
  if (properties.length === 0) return [wholeOf(given)];
  const required = schema?.['required'];
  return properties.map(([name, property]) => {
    const own = asSchema(property) ?? {};
    const isRequired = Array.isArray(required) && required.includes(name);
    return fieldOf(name, own, isRequired, given?.[name]);
  });
}

/** The entered parameters of a run, without empty fields.
 *  @returns the errors by field name, if there are any */
export function paramsOf(
  fields: readonly ParameterField[],
  values: FieldValues,
):
  | { readonly params: Record<string, unknown> }
  | { readonly errors: Readonly<Record<string, string>> } {
  const params: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const field of fields) {
    const read = valueOf(field, values[field.name] ?? field.initial);
    if ('error' in read) errors[field.name] = read.error;
    else if (read.value !== undefined) params[field.name] = read.value;
  }
  if (Object.keys(errors).length > 0) return { errors };
  if (fields[0]?.name !== whole) return { params };
  const all = asSchema(params[whole] ?? {});
  return all === undefined ? { errors: { [whole]: 'Enter a JSON object.' } } : { params: all };
}

/** The name of the single field with all parameters. A form with this field has no others. */
const whole = '';

function wholeOf(given: Params | null): ParameterField {
  return {
    name: whole,
    kind: 'json',
    label: 'Parameters',
    hint: 'A JSON object. The script reads it as platform.params.',
    required: false,
    choices: [],
    initial: given === null ? '' : JSON.stringify(given, null, 2),
  };
}

function fieldOf(name: string, schema: Schema, required: boolean, given: unknown): ParameterField {
  const { title, description, enum: choices } = schema;
  const kind = kindOf(schema);
  return {
    name,
    kind,
    label: typeof title === 'string' ? title : name,
    hint: typeof description === 'string' ? description : undefined,
    required,
    choices: Array.isArray(choices) ? choices.map((choice) => JSON.stringify(choice)) : [],
    initial: shown(kind, given === undefined ? schema['default'] : given),
  };
}

function kindOf({ type, enum: choices }: Schema): ParameterField['kind'] {
  if (Array.isArray(choices)) return 'choice';
  switch (type) {
    case 'string':
      return 'text';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'flag';
    default:
      return 'json';
  }
}

function shown(kind: ParameterField['kind'], value: unknown): string | boolean {
  if (kind === 'flag') return value === true;
  if (value === undefined) return '';
  return kind === 'text' && typeof value === 'string' ? value : JSON.stringify(value);
}

function valueOf(
  { kind, label, required }: ParameterField,
  entered: string | boolean,
): { readonly value: unknown } | { readonly error: string } {
  if (typeof entered === 'boolean') return { value: entered };
  if (entered.trim() === '')
    return required ? { error: `${label} is required.` } : { value: undefined };
  if (kind === 'text') return { value: entered };
  try {
    const value: unknown = JSON.parse(entered);
    const isNumber = typeof value === 'number';
    return kind === 'number' && !isNumber ? { error: 'Enter a number.' } : { value };
  } catch {
    return { error: kind === 'number' ? 'Enter a number.' : 'Enter valid JSON.' };
  }
}

function asSchema(value: unknown): Schema | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Schema) : undefined;
}
