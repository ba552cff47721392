/** The API description (OpenAPI 3.1), derived from the operations. */
import { scopesOf } from '#domain/kernel/rights.ts';
import type { TSchema } from 'typebox';
import { takesMinPosition } from '../min-position.ts';
import {
  formsOf,
  type Operation,
  type RequestHeader,
  type ResponseHeader,
  type ResponseRule,
} from '../operation.ts';
import { problemKinds, type ProblemCode } from '../problem.ts';
import { Problem } from '../schema.ts';
import { headerComponents, headerParameter, headersOf } from './headers.ts';
import { tagDescriptions } from './tags.ts';

type Json = Record<string, unknown>;

/** A WebSocket of the API, in the form of an operation. */
export interface SocketDescription {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly frames: TSchema;
  readonly parameters: readonly object[];
}

/** The input of the API description, in display order. */
interface Described {
  readonly operations: readonly Operation[];
  readonly sockets: readonly SocketDescription[];
  readonly version: string;
}

export function describe({ operations, sockets: described, version }: Described): Json {
  const components = new Components();
  const paths: Record<string, Json> = {};
  for (const one of operations) {
    for (const [index, { method, path, isDescribed }] of formsOf(one).entries()) {
      if (!isDescribed) continue;
      (paths[path] ??= {})[method] = operationObject(one, index, components);
    }
  }
  const sockets = described.map(({ path, frames, ...socket }) => [
    path,
    { get: socketObject(socket, components.inlined(frames)) },
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Script Orchestration Service',
      version,
      description:
        'Lists have the form `{"items": […], "next_cursor": …}`. Errors are problem documents ' +
        '(RFC 9457) with a stable ' +
        '`code`. Writes return `Orch-Position`. Unknown body fields are rejected. An invalid ID ' +
        'in a path ' +
        'returns 404. Every GET operation also supports HEAD. Other unsupported methods return 405 with ' +
        '`Allow`. Rejected requests are recorded in the audit trail. OpenAPI cannot describe WebSockets; ' +
        '`x-websockets` lists them in the same form as paths.',
      contact: { name: 'The operators of this service' },
      license: { name: 'All rights reserved', identifier: 'LicenseRef-All-Rights-Reserved' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(operations.map((one) => one.tag))].map((name) => ({
      name,
      description: tagDescriptions[name],
    })),
    security: [{ bearer: [] }],
    paths,
    'x-websockets': Object.fromEntries(sockets) as Json,
    components: {
      schemas: { Problem: components.inlined(Problem), ...components.schemas },
      headers: headerComponents(),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    },
  };
}

function socketObject(socket: object, frames: unknown): Json {
  return {
    ...socket,
    // Clients can send a token in several ways, most of which OpenAPI cannot express.
    security: [{ bearer: [] }, {}],
    responses: {
      101: {
        description: 'The WebSocket is open and sends frames of this form.',
        content: { 'application/json': { schema: frames } },
      },
      400: { description: 'A parameter is invalid.' },
      426: {
        ...failure(426, ['upgrade_required']),
        headers: {
          ...headersOf(426),
          Upgrade: { description: 'Always `websocket`.', schema: { type: 'string' } },
        },
      },
      503: { description: 'Too many WebSockets are open.' },
    },
  };
}

/** Collects the schemas with a title. The title is the schema's name in the description. */
class Components {
  readonly schemas: Record<string, unknown> = {};

  /** Returns the schema, or a reference to it if it has a name. */
  use(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((one) => this.use(one));
    if (typeof schema !== 'object' || schema === null) return schema;
    const { title } = schema as { title?: unknown };
    if (typeof title !== 'string') return this.inlined(schema);
    this.schemas[title] ??= this.inlined(schema);
    return { $ref: `#/components/schemas/${title}` };
  }

  inlined(schema: object): Json {
    const entries = Object.entries(schema).map(([name, value]) => [
      name,
      name === 'examples' ? (value as unknown) : this.use(value),
    ]);
    return { ...(Object.fromEntries(entries) as Json), ...widthOf(schema) };
  }
}

/** Adds the format of large integers, because client generators use 32-bit integers by default. */
function widthOf(schema: { type?: unknown; maximum?: unknown }): Json {
  const { type, maximum } = schema;
  const isNarrow = typeof maximum === 'number' && maximum < 2 ** 31;
  return type !== 'integer' || isNarrow ? {} : { format: 'int64' };
}

function operationObject(one: Operation, form: number, components: Components): Json {
  const isAlias = form > 0;
  return {
    operationId: isAlias ? `${one.operationId}_${form + 1}` : one.operationId,
    summary: one.summary,
    description: [one.description, isAlias && `Alias of \`${one.operationId}\`.`, rightOf(one)]
      .filter(Boolean)
      .join('\n\n'),
    tags: [one.tag],
    ...(one.access === 'public' && { security: [] }),
    'x-access': typeof one.access === 'string' ? one.access : one.access.right,
    ...(typeof one.access !== 'string' && one.access.session && { 'x-session': true }),
    parameters: parametersOf(one, components),
    ...(one.body && { requestBody: requestBody(one, components) }),
    responses: { ...successes(one, components), ...failures(one) },
  };
}

const anyOf = new Intl.ListFormat('en-GB', { type: 'disjunction' });

function rightOf({ access }: Operation): string {
  if (access === 'public') return 'No authentication required.';
  if (access === 'signed-in') return 'Requires a token.';
  if (access === 'session') return 'Requires a session token. API tokens are rejected.';
  if (access.session === true) {
    return `Requires the \`${access.right}\` right and a session token. API tokens are rejected.`;
  }
  const givers = anyOf.format(scopesOf[access.right].map((scope) => `\`${scope}\``));
  return `Requires the \`${access.right}\` right. API tokens also need the ${givers} scope.`;
}

function parametersOf(one: Operation, components: Components): Json[] {
  const inPath = Object.entries(one.parameters ?? {}).map(([name, parameter]) => ({
    name,
    in: 'path',
    required: true,
    description: parameter.description,
    schema: components.use(parameter.schema),
    example: parameter.example,
  }));
  const { properties = {}, required = [] } = (one.query ?? {}) as {
    properties?: Record<string, TSchema & { description?: string }>;
    required?: string[];
  };
  const inQuery = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(schema.description && { description: schema.description }),
    schema: components.use(schema),
  }));
  const named: readonly RequestHeader[] = [
    ...(one.requestHeaders ?? []),
    ...(one.creates ? (['Idempotency-Key'] as const) : []),
    ...(takesMinPosition(one) ? (['Orch-Min-Position'] as const) : []),
  ];
  return [...inPath, ...inQuery, ...named.map(headerParameter)];
}

function requestBody({ body, method }: Operation, components: Components): Json {
  if (body === undefined) return {};
  const plain = { schema: components.use(body.schema), example: body.example };
  const mediaTypes = ['application/json', ...(body.mediaTypes ?? [])];
  const bytes = { schema: { type: 'string', format: 'binary' } };
  return {
    required: body.optional !== true && method !== 'get',
    content: {
      ...Object.fromEntries(mediaTypes.map((type) => [type, plain])),
      ...Object.fromEntries(rawMediaTypes(body).map((type) => [type, bytes])),
    },
  };
}

function rawMediaTypes({ rawMaxBytes, rawMediaTypes: types }: NonNullable<Operation['body']>) {
  return rawMaxBytes === undefined ? [] : (types ?? ['application/octet-stream']);
}

function successes(one: Operation, components: Components): Json {
  const entries = Object.entries(one.responses).map(([status, rule]) => [
    status,
    response(Number(status), rule, one, components),
  ]);
  return Object.fromEntries(entries) as Json;
}

function response(
  status: number,
  {
    description,
    schema,
    mediaType = 'application/json',
    alternatives = {},
    headers = [],
  }: ResponseRule,
  { creates }: Operation,
  components: Components,
): Json {
  const named = creates ? ([...headers, 'Idempotency-Replayed'] as const) : headers;
  const others = Object.entries(alternatives).map(([type, other]) => [
    type,
    { schema: components.use(other) },
  ]);
  return {
    description,
    headers: headersOf(status, named),
    ...(schema && {
      content: {
        [mediaType]: { schema: components.use(schema), ...exampleOf(schema) },
        ...Object.fromEntries(others),
      },
    }),
  };
}

function exampleOf(schema: TSchema): Json {
  const { examples, properties } = schema as {
    examples?: readonly unknown[];
    properties?: { items?: { items?: { examples?: readonly unknown[] } }; next_cursor?: object };
  };
  if (examples?.[0] !== undefined) return { example: examples[0] };
  const item = properties?.items?.items?.examples?.[0];
  if (item === undefined) return {};
  return {
    example: { items: [item], ...(properties?.next_cursor !== undefined && { next_cursor: null }) },
  };
}

function takesCursor({ query }: Operation): boolean {
  const { properties = {} } = (query ?? {}) as { properties?: object };
  return 'cursor' in properties;
}

/** The problem codes that the operation lists or its description implies. */
export function refusalsOf(one: Operation): readonly ProblemCode[] {
  const takesJson = one.body !== undefined;
  const codes: ProblemCode[] = [
    ...(one.access === 'public' ? [] : (['unauthenticated'] as const)),
    ...(typeof one.access === 'object' || one.access === 'session' ? (['forbidden'] as const) : []),
    ...(Object.keys(one.parameters ?? {}).length > 0 ? (['not_found'] as const) : []),
    'invalid_parameter',
    ...(takesJson
      ? ([
          'malformed_json',
          'payload_too_large',
          'unsupported_media_type',
          'validation_failed',
        ] as const)
      : []),
    ...(one.creates ? (['idempotency_key_reused'] as const) : []),
    ...(takesCursor(one) ? (['invalid_cursor'] as const) : []),
    ...(one.refusals ?? []),
    'unavailable',
  ];
  return [...new Set(codes)];
}

function failures(one: Operation): Json {
  const byStatus = Map.groupBy(refusalsOf(one), (code) => problemKinds[code].status);
  const entries = [...byStatus]
    .filter(([status]) => !(status in one.responses))
    .map(([status, codes]) => [
      status,
      failure(status, codes, one.creates ? ['Idempotency-Replayed'] : []),
    ]);
  return Object.fromEntries(entries) as Json;
}

function failure(
  status: number,
  codes: readonly ProblemCode[],
  headers: readonly ResponseHeader[] = [],
): Json {
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    headers: headersOf(status, headers),
    content: {
      'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
    },
  };
}
