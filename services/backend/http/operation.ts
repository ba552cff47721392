/** An operation is data: its route, validation, permissions and API description are derived from one description.
 *  `access` is mandatory, so no operation is public by accident. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '#domain/kernel/actor.ts';
import type { SessionId } from '#domain/kernel/ids.ts';
import type { Right } from '#domain/kernel/rights.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { Static, TSchema } from 'typebox';
import type { Services } from '../services.ts';
import type { Tag } from './description/tags.ts';
import type { ProblemCode } from './problem.ts';
import type { Answer } from './reply.ts';

/** The permitted callers: all clients, all authenticated users, signed-in users (without API tokens), or holders of a
 *  right; with `session`, only signed-in holders. */
export type Access =
  | 'public'
  | 'signed-in'
  | 'session'
  | { readonly right: Right; readonly session?: true };

/** A path parameter. A malformed value gets 404, like an unknown ID. */
export interface PathParameter<Value> {
  readonly description: string;
  readonly schema: TSchema;
  readonly example: string;
  readonly parse: (text: string) => Value | undefined;
  /** Prefix of the stream that the value identifies, for the audit trail. */
  readonly stream?: string;
}

export type PathParameters = Readonly<Record<string, PathParameter<unknown>>>;

type ParsedParameters<Parameters extends PathParameters> = {
  readonly [Name in keyof Parameters]: Parameters[Name] extends PathParameter<infer Value>
    ? Value
    : never;
};

/** A body other than JSON, read once at the pace of the handler. */
export interface RawBody {
  readonly kind: 'raw';
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface BodyRule<Schema extends TSchema> {
  readonly schema: Schema;
  readonly example: unknown;
  /** A missing body means `{}`. */
  readonly optional?: true;
  /** Content types other than `application/json` that contain plain JSON. */
  readonly mediaTypes?: readonly string[];
  /** The maximum size of bodies with other content types, which are passed as bytes. */
  readonly rawMaxBytes?: number;
  /** Whether JSON is passed as bytes, too. */
  readonly bytesOnly?: true;
  /** The content types of byte bodies, for the description. */
  readonly rawMediaTypes?: readonly string[];
  /** Text is stored as bytes, so NUL characters are permitted. */
  readonly anyText?: true;
}

export interface ResponseRule {
  readonly description: string;
  /** Absent for responses without a body. */
  readonly schema?: TSchema;
  /** The content type. Default: `application/json`. */
  readonly mediaType?: string;
  /** Other content types that a request may accept, each with the schema of its body. */
  readonly alternatives?: Readonly<Record<string, TSchema>>;
  readonly headers?: readonly ResponseHeader[];
}

export type ResponseHeader =
  | 'ETag'
  | 'Location'
  | 'Link'
  | 'Orch-Position'
  | 'Set-Cookie'
  | 'Content-Disposition'
  | 'Idempotency-Replayed'
  | 'Preference-Applied';

export type RequestHeader =
  | 'If-Match'
  | 'If-None-Match'
  | 'Prefer'
  | 'Orch-Client'
  | 'Orch-Session-Key'
  | 'Idempotency-Key'
  | 'Orch-Min-Position';

/** A validated request. */
export interface Call<
  Parameters extends PathParameters = PathParameters,
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
  Rule extends Access = Access,
  Ahead = unknown,
> {
  readonly parameters: ParsedParameters<Parameters>;
  readonly query: Static<Query>;
  readonly body: Static<Body>;
  /** Set instead of `body` if the operation accepts bytes and received them. */
  readonly raw: RawBody | undefined;
  readonly principal: Rule extends 'public' ? undefined : Principal;
  readonly sessionId: Rule extends 'session' ? SessionId : undefined;
  /** The role requires a second factor, and the session was opened without one. */
  readonly mustSetUpFactor: boolean;
  /** The context for commands of this request: user, client address and ID. */
  readonly context: CommandContext;
  /** The client's IP address. */
  readonly ip: string;
  /** Whether the client uses HTTPS. */
  readonly secure: boolean;
  /** The public origin of this service, such as `https://host`. */
  readonly origin: string;
  /** Path and query as requested. */
  readonly url: string;
  readonly header: (name: string) => string | undefined;
  /** All headers, by lower-case name. */
  readonly headers: IncomingHttpHeaders;
  /** Returns a signal that is aborted when the client disconnects. */
  readonly gone: () => AbortSignal;
  /** The result of `ahead`. */
  readonly ahead: Promise<Ahead>;
}

export interface Alias {
  readonly method?: 'put';
  readonly path?: string;
  /** Served, but omitted from the API description, because some paths violate OpenAPI rules. */
  readonly undescribed?: true;
}

export interface OperationDescription<
  Parameters extends PathParameters,
  Query extends TSchema,
  Body extends TSchema,
  Rule extends Access,
  Ahead,
> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With `{name}` for parameters; `{path}` also matches slashes. */
  readonly path: string;
  /** Alternative paths and methods. */
  readonly aliases?: readonly Alias[];
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** A sign-in page, which only browsers open. The API description omits it. */
  readonly undescribed?: true;
  readonly tag: Tag;
  readonly access: Rule;
  readonly parameters?: Parameters;
  readonly query?: Query;
  readonly body?: BodyRule<Body>;
  readonly requestHeaders?: readonly RequestHeader[];
  /** Names of asynchronous projections that it reads. A read with an `Orch-Min-Position` header waits for
   *  them. */
  readonly readsBehind?: readonly string[];
  /** Fields of the response's JSON that are shown once: a repeated response omits them. */
  readonly shownOnce?: readonly string[];
  /** Whether sessions that lack a required second factor may call the operation. */
  readonly allowsFactorSetUp?: true;
  /** Creates a resource: an `Idempotency-Key` repeats the first response. */
  readonly creates?: true;
  readonly responses: Readonly<Record<number, ResponseRule>>;
  /** Problem codes in addition to those that the description implies. */
  readonly refusals?: readonly ProblemCode[];
  /** Starts reads that the handler always needs, in parallel with the authentication. */
  readonly ahead?: (parameters: ParsedParameters<Parameters>, services: Services) => Promise<Ahead>;
  readonly handle: (
    call: Call<Parameters, Query, Body, Rule, Ahead>,
    services: Services,
  ) => Promise<Answer>;
}

/** An operation with erased type parameters. */
export type Operation = OperationDescription<PathParameters, TSchema, TSchema, Access, unknown>;

/** Describes an operation and checks its handler against its schemas. */
export function operation<
  const Parameters extends PathParameters,
  Query extends TSchema,
  Body extends TSchema,
  const Rule extends Access,
  Ahead = undefined,
>(description: OperationDescription<Parameters, Query, Body, Rule, Ahead>): Operation {
  return description as unknown as Operation;
}

/** A method and path of an operation. */
export interface Form {
  readonly method: Operation['method'];
  readonly path: string;
  readonly isDescribed: boolean;
}

/** All methods and paths of the operation, the canonical form first. */
export function formsOf(one: Operation): readonly Form[] {
  return [
    { method: one.method, path: one.path, isDescribed: one.undescribed !== true },
    ...(one.aliases ?? []).map((alias) => ({
      method: alias.method ?? one.method,
      path: alias.path ?? one.path,
      isDescribed: alias.undescribed !== true,
    })),
  ];
}
