/** Derives the form for a run's parameters from the script's JSON Schema. */

export interface ParameterField {
  readonly name: string;
  readonly kind:
    | 'text'
    | 'lines'
    | 'secret'
    | 'date'
    | 'date-time'
    | 'number'
    | 'flag'
    | 'choice'
    | 'choices'
    | 'list'
    | 'file'
    | 'json';
  readonly label: string;
  readonly hint: string | undefined;
  readonly placeholder: string | undefined;
  readonly required: boolean;
  /** The permitted values. */
  readonly choices: readonly Choice[];
  /** The accepted media types of a file, in the format of the `accept` attribute. */
  readonly accept: string | undefined;
  /** Whether the numbers in the field or list must be integers, or undefined if the values are not numbers. */
  readonly number: 'integer' | 'number' | undefined;
  readonly initial: FieldValue;
}

export interface Choice {
  /** The value, encoded as JSON. */
  readonly value: string;
  readonly label: string;
}

/** The value of a list is edited as text with one item per line. The value of a multiple-choice field is a list of the
 *  chosen values. */
export type FieldValue = string | boolean | readonly string[];
export type FieldValues = Record<string, FieldValue>;
export type Params = Readonly<Record<string, unknown>>;

type Schema = Readonly<Record<string, unknown>>;
type Kind = ParameterField['kind'];

/** The name of the field that contains all parameters as JSON. A form with this field has no other fields. */
export const whole = '';

/** Returns one field for each schema property, or a single JSON field if the schema has no properties. The properties
 *  in the schema's `order` list come first, followed by the required properties.
 *  @param given initial values, which override the schema's defaults */
export function fieldsOf(schema: Schema | null, given: Params | null): readonly ParameterField[] {
  const properties = Object.entries(asSchema(schema?.['properties']) ?? {});
  if (!schema || properties.length === 0) return [wholeOf(given)];
  const required = listOf(schema['required']);
  // Stored objects lose the order of their properties, but lists keep their order.
  const order = [...listOf(schema['order']), ...required];
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  const ordered = properties.toSorted(([one], [other]) => rank(one) - rank(other));
  return ordered.map(([name, property]) =>
    fieldOf(name, effective(property, schema), required.includes(name), given?.[name]),
  );
}

function wholeOf(given: Params | null): ParameterField {
  return {
    ...fieldOf(whole, { title: 'Parameters' }, false, given ?? undefined),
    hint: 'A JSON object. The script reads it as platform.params.',
    initial: given === null ? '' : JSON.stringify(given, null, 2),
  };
}

function fieldOf(name: string, schema: Schema, required: boolean, given: unknown): ParameterField {
  const declared = kindOf(schema);
  const value = given === undefined || declared === 'secret' ? schema['default'] : given;
  // A list whose items contain line breaks is edited as JSON, because a list field has one item per line.
  const kind = declared === 'list' && /\\n/.test(JSON.stringify(value) ?? '') ? 'json' : declared;
  const items = asSchema(schema['items']) ?? {};
  const { type } = kind === 'list' ? items : schema;
  const [example] = listOf(schema['examples']);
  return {
    name,
    kind,
    label: textOf(schema['title']) ?? name,
    hint: textOf(schema['description']),
    placeholder: example === undefined ? undefined : entered('text', example),
    required,
    choices: choicesOf(kind === 'choices' ? items : schema),
    accept: textOf(schema['contentMediaType']),
    number: type === 'integer' || type === 'number' ? type : undefined,
    initial: shown(kind, value),
  };
}

/** Resolves local references. For a nullable property in the form that code generators emit, returns the only non-null
 *  type. */
function effective(property: unknown, root: Schema, depth = 0): Schema {
  const own = asSchema(property) ?? {};
  const target = textOf(own['$ref'])?.match(/^#\/(\$defs|definitions)\/([^/]+)$/);
  const variants = [...listOf(own['anyOf']), ...listOf(own['allOf'])].filter(
    (one) => asSchema(one)?.['type'] !== 'null',
  );
  const inner = target
    ? asSchema(root[target[1] ?? ''])?.[target[2] ?? '']
    : variants.length === 1
      ? variants[0]
      : undefined;
  if (inner === undefined || depth > 8) return withoutNull(own);
  return { ...effective(inner, root, depth + 1), ...own };
}

function withoutNull(schema: Schema): Schema {
  const types = listOf(schema['type']).filter((type) => type !== 'null');
  return types.length === 1 ? { ...schema, type: types[0] } : schema;
}

function kindOf(schema: Schema): Kind {
  if (choicesOf(schema).length > 0) return 'choice';
  switch (schema['type']) {
    case 'string':
      return textKind(schema);
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'flag';
    case 'array':
      return listKind(asSchema(schema['items']) ?? {});
    default:
      return 'json';
  }
}

function textKind({ format, writeOnly, contentEncoding, contentMediaType }: Schema): Kind {
  if (format === 'password' || writeOnly === true) return 'secret';
  if (contentEncoding === 'base64') return 'file';
  if (format === 'date' || format === 'date-time') return format;
  return format === 'multiline' || contentMediaType !== undefined ? 'lines' : 'text';
}

function listKind(items: Schema): Kind {
  if (choicesOf(items).length > 0) return 'choices';
  return ['string', 'integer', 'number'].includes(String(items['type'])) ? 'list' : 'json';
}

/** Returns the choices from `enum`, or from the titled values of `oneOf`. */
function choicesOf(schema: Schema): Choice[] {
  const titled = listOf(schema['oneOf']).map((one) => asSchema(one) ?? {});
  const named =
    titled.length > 0 && titled.every((one) => 'const' in one)
      ? titled.map((one) => ({ value: one['const'], title: textOf(one['title']) }))
      : listOf(schema['enum']).map((value) => ({ value, title: undefined }));
  return named.map(({ value, title }) => ({
    value: JSON.stringify(value),
    label: title ?? entered('text', value),
  }));
}

function shown(kind: Kind, value: unknown): FieldValue {
  if (kind === 'flag') return value === true;
  if (kind === 'list')
    return listOf(value)
      .map((one) => entered('text', one))
      .join('\n');
  if (kind === 'choices') return listOf(value).map((one) => JSON.stringify(one));
  return value === undefined || value === null ? '' : entered(kind, value);
}

/** Converts a value to the text shown in its field. */
function entered(kind: Kind, value: unknown): string {
  const isText = typeof value === 'string' && kind !== 'json' && kind !== 'choice';
  return isText ? value : JSON.stringify(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function asSchema(value: unknown): Schema | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Schema) : undefined;
}
