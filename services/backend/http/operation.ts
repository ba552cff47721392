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

/** The permitted callers: all clients, all authenticated users, signed-in users (not API tokens), or users with a
 *  given right. `session` additionally requires a sign-in. */
export type Access =
  | 'public'
  | 'signed-in'
  | 'session'
  | { readonly right: Right; readonly session?: true };

/** A path parameter. A malformed value gets a 404 response, like an unknown ID. */
export interface PathParameter<Value> {
  readonly description: string;
  readonly schema: TSchema;
  readonly example: string;
  readonly parse: (text: string) => Value | undefined;
  /** The prefix that turns the value into a stream ID, for the audit trail. */
  readonly stream?: string;
}

export type PathParameters = Readonly<Record<string, PathParameter<unknown>>>;

type ParsedParameters<Parameters extends PathParameters> = {
  readonly [Name in keyof Parameters]: Parameters[Name] extends PathParameter<infer Value>
    ? Value
    : never;
};

/** A body that is not parsed. The handler reads it once, at its own pace. */
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
  /** The maximum size of bodies that are not JSON. The handler receives such bodies as bytes. */
  readonly rawMaxBytes?: number;
  /** Whether the handler receives bytes even if the body is JSON. */
  readonly bytesOnly?: true;
  /** The content types of byte bodies in the API description. */
  readonly rawMediaTypes?: readonly string[];
  /** Permits NUL characters, because the text is stored as bytes. */
  readonly anyText?: true;
}

export interface ResponseRule {
  readonly description: string;
  /** The schema of the body; absent for responses without a body. */
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
  /** Set instead of `body` if the handler receives bytes. */
  readonly raw: RawBody | undefined;
  readonly principal: Rule extends 'public' ? undefined : Principal;
  readonly sessionId: Rule extends 'session' ? SessionId : undefined;
  /** Whether the role requires a second factor and the session was opened without one. */
  readonly mustSetUpFactor: boolean;
  /** The context for commands of this request: user, client address and ID. */
  readonly context: CommandContext;
  /** The client's IP address. */
  readonly ip: string;
  /** Whether the client uses HTTPS. */
  readonly secure: boolean;
  /** The public origin of this service, such as `https://host`. */
  readonly origin: string;
  /** The path and query as requested. */
  readonly url: string;
  readonly header: (name: string) => string | undefined;
  /** All headers, by lower-case name. */
  readonly headers: IncomingHttpHeaders;
  /** Returns a signal that aborts when the client disconnects. */
  readonly gone: () => AbortSignal;
  /** The result of `ahead`. */
  readonly ahead: Promise<Ahead>;
}

export interface Alias {
  readonly method?: 'put';
  readonly path?: string;
  /** Omits the path from the API description, because the path violates OpenAPI rules. */
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
  /** Contains `{name}` for each parameter. `{path}` also matches slashes. */
  readonly path: string;
  /** Alternative paths and methods. */
  readonly aliases?: readonly Alias[];
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** Omits the operation from the API description, because it is a sign-in page that only browsers open. */
  readonly undescribed?: true;
  readonly tag: Tag;
  readonly access: Rule;
  readonly parameters?: Parameters;
  readonly query?: Query;
  readonly body?: BodyRule<Body>;
  readonly requestHeaders?: readonly RequestHeader[];
  /** Names of the asynchronous projections that the operation reads. A request with `Orch-Min-Position` waits for
   *  them. */
  readonly readsBehind?: readonly string[];
  /** Fields of the response's JSON that only the first response contains. */
  readonly shownOnce?: readonly string[];
  /** Whether sessions that lack a required second factor may call the operation. */
  readonly allowsFactorSetUp?: true;
  /** Whether the operation creates a resource, and so accepts an `Idempotency-Key`. */
  readonly creates?: true;
  readonly responses: Readonly<Record<number, ResponseRule>>;
  /** Problem codes in addition to those that the description implies. */
  readonly refusals?: readonly ProblemCode[];
  /** Starts reads that the handler always needs, while the caller is being authenticated. */
  readonly ahead?: (parameters: ParsedParameters<Parameters>, services: Services) => Promise<Ahead>;
  readonly handle: (
    call: Call<Parameters, Query, Body, Rule, Ahead>,
    services: Services,
  ) => Promise<Answer>;
}

/** An operation with erased type parameters. */
export type Operation = OperationDescription<PathParameters, TSchema, TSchema, Access, unknown>;

/** Describes an operation. The types ensure that its handler matches its schemas. */
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
