/** Reduces the API description (OpenAPI) to the operations of the command line. */
import type { ApiOperation, Field, FieldKind } from './operations.ts';
import { argumentNameOf, nameOf, optionNameOf, withoutCommand } from './names.ts';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
}

type Content = Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>;

interface DescribedParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

interface DescribedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly 'x-access': string;
  /** The operation refuses API tokens, although it requires a right. */
  readonly 'x-session'?: true;
  readonly parameters?: readonly DescribedParameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Headers that clients send automatically, so there are no options for them. */
const leftOutHeaders = ['If-None-Match', 'Orch-Min-Position', 'Orch-Client', 'Orch-Session-Key'];
const destructiveNames = /^backups restore$| (purge|rotate|rotate-secret)$/;
/** Schemas of responses with a secret that a repeated request does not return. */
const shownOnce = /^#\/components\/schemas\/(Shown|Added)/;
const secretFields = /(^|_)password$|^(value|credential)$/;
// Error groups are excluded, because they have no name.
const named = /^(?!error_group_)(?:\w+_)?(script|group|user|channel)_ids?$/;

/** Removes the suffix of an alternative path or method, such as `_2` in `runScript_2`. */
export const baseIdOf = (operationId: string): string => operationId.replace(/_\d+$/, '');

/** The operations with a derived command, in the order of the description. */
export function operationsOf({ paths, components }: Description): readonly ApiOperation[] {
  const found = new Map<string, ApiOperation>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, described] of Object.entries(methods)) {
      const id = baseIdOf(described.operationId);
      // If an operation has several paths, the shortest one determines the command's name.
      const length = found.get(id)?.path.length ?? Number.POSITIVE_INFINITY;
      if (id in withoutCommand || length <= path.length) continue;
      found.set(id, reduce(described, id, method, path, components.schemas));
    }
  }
  return [...found.values()];
}

type Schemas = Readonly<Record<string, Schema>>;

function reduce(
  { summary, description, tags, parameters = [], ...described }: DescribedOperation,
  id: string,
  method: string,
  path: string,
  schemas: Schemas,
): ApiOperation {
  const name = nameOf(id, path, tags[0] ?? '');
  const content = described.requestBody?.content ?? {};
  const upload = uploadType(content);
  const body = resolve(content['application/json']?.schema ?? {}, schemas);
  const inPlace = (place: Field['in']) =>
    parameters
      .filter((one) => one.in === place && !leftOutHeaders.includes(one.name))
      .map((one) => fieldOf(one.name, place, one.schema, path, schemas, one));
  const fields = [
    ...inPlace('path'),
    ...Object.entries(upload === undefined ? (body.properties ?? {}) : {}).map(([field, schema]) =>
      fieldOf(field, 'body', schema, path, schemas, {
        required: body.required?.includes(field) ?? false,
      }),
    ),
    ...inPlace('query'),
    ...inPlace('header'),
  ];
  const answers = Object.entries(described.responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content: answer = {} }]) => answer);
  const json = answers.flatMap((answer) => answer['application/json']?.schema ?? []);
  const isFile = answers.some(
    (answer) => Object.keys(answer).length > 0 && !('application/json' in answer),
  );
  return {
    id,
    name,
    method: method.toUpperCase(),
    path,
    summary,
    ...(description !== undefined && { details: plainText(description) }),
    example: exampleOf(fields, parameters, content['application/json']?.example, upload),
    fields,
    ...((described['x-access'] === 'session' || described['x-session'] === true) && {
      session: true,
    }),
    ...(upload !== undefined && { upload }),
    ...((isFile || /^export|^openapi$/.test(id)) && { download: true }),
    ...(json.some((one) => 'next_cursor' in (resolve(one, schemas).properties ?? {})) &&
      fields.some((field) => field.name === 'cursor') && { pages: true }),
    ...((method === 'delete' || destructiveNames.test(name)) && { destructive: true }),
    ...(fields.some((field) => field.name === 'Idempotency-Key') &&
      !json.some(({ $ref }) => shownOnce.test($ref ?? '')) && { repeatable: true }),
  };
}

/** The content type of a body that is a file. */
function uploadType(content: Content): string | undefined {
  return Object.entries(content).find(
    ([type, { schema }]) => schema?.format === 'binary' && type !== 'multipart/form-data',
  )?.[0];
}

function fieldOf(
  name: string,
  place: Field['in'],
  given: Schema,
  path: string,
  schemas: Schemas,
  { required = false, description }: { required?: boolean; description?: string },
): Field {
  const whole = resolve(given, schemas);
  const [one = whole] = (whole.anyOf ?? []).filter(({ type }) => type !== 'null');
  const schema = one.type === 'array' ? resolve(one.items ?? {}, schemas) : one;
  const isSecret = place === 'body' && secretFields.test(name);
  const choices = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  const scope =
    place === 'path' && name === 'id' ? `${argumentNameOf(name, path).toLowerCase()}_id` : name;
  const refersTo = named.exec(scope)?.[1];
  return {
    name,
    in: place,
    label: place === 'path' ? argumentNameOf(name, path) : optionNameOf(name),
    kind: isSecret ? 'secret' : kindOf(schema),
    ...(required && { required: true }),
    ...(one !== whole && { nullable: true }),
    ...(one.type === 'array' && { many: true }),
    ...(choices.length > 0 && { choices: choices.map(String) }),
    ...(refersTo !== undefined && { refersTo }),
    help: helpOf(
      refersTo === undefined ? name : `name or ID of the ${name.replace(/_ids?$/, '')}`,
      description ?? given.description ?? one.description,
      whole.default,
    ),
  };
}

function kindOf({ type, anyOf }: Schema): FieldKind {
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'boolean') return 'switch';
  return type === 'object' || anyOf !== undefined ? 'json' : 'text';
}

function resolve(schema: Schema, schemas: Schemas): Schema {
  if (schema.$ref === undefined) return schema;
  return resolve(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, schemas);
}

const plainText = (markdown: string): string =>
  markdown.replaceAll(/`/g, '').replaceAll(/\s+/g, ' ').trim();

function helpOf(name: string, description: string | undefined, fallback: unknown): string {
  const words = name
    .replaceAll(/[_-]/g, ' ')
    .toLowerCase()
    .replaceAll(/\bid\b/g, 'ID');
  const [first = ''] = plainText(description ?? words).split(/(?<=[a-z)])\. /);
  const sentence = /^[A-Z][a-z]/.test(first)
    ? `${first[0]?.toLowerCase()}${first.slice(1)}`
    : first;
  const isShown = ['string', 'number', 'boolean'].includes(typeof fallback) && fallback !== '';
  const value = isShown ? ` (default ${String(fallback)})` : '';
  return `${sentence.replace(/\.$/, '')}${value}`;
}

/** An example of the command, with its required options and values from the API description. */
function exampleOf(
  fields: readonly Field[],
  parameters: readonly DescribedParameter[],
  body: unknown,
  upload: string | undefined,
): string {
  const values = body as Readonly<Record<string, unknown>> | undefined;
  const words = fields.flatMap((field) => {
    if (field.in === 'path') {
      const example = parameters.find(({ name }) => name === field.name)?.example;
      return [quoteForShell(textOf(example ?? field.label))];
    }
    if (field.kind === 'secret') return field.required ? [`--${field.label}-from FILE`] : [];
    const value = field.in === 'body' ? values?.[field.name] : undefined;
    if (value === undefined) return [];
    if (field.kind === 'switch') return [`--${value === true ? '' : 'no-'}${field.label}`];
    const each = field.many && Array.isArray(value) ? value : [value];
    return each.map((item) => `--${field.label} ${quoteForShell(textOf(item))}`);
  });
  return [...words, ...(upload === undefined ? [] : ['--file FILE'])].join(' ');
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
const quoteForShell = (text: string): string =>
  /^[\w./:@=+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
