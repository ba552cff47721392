/** An operation is data: from the same description come the route, its validation, the permission
 *  table and the API description. Without `access` none can be written, so nothing is open by
 *  accident. */
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

/** Who may ask: anybody, anybody who is known, those who signed in (and use no API token), or the holders
 *  of a right; with `session`, those of them who signed in. */
export type Access =
  | 'public'
  | 'signed-in'
  | 'session'
  | { readonly right: Right; readonly session?: true };

/** A part of the path. Text that does not parse names nothing: 404. */
export interface PathParameter<Value> {
  readonly description: string;
  readonly schema: TSchema;
  readonly example: string;
  readonly parse: (text: string) => Value | undefined;
  /** Prefix of the stream that the value names, for the audit trail. */
  readonly stream?: string;
}

export type PathParameters = Readonly<Record<string, PathParameter<unknown>>>;

type ParsedParameters<Parameters extends PathParameters> = {
  readonly [Name in keyof Parameters]: Parameters[Name] extends PathParameter<infer Value>
    ? Value
    : never;
};

/** Bytes of a body that is not JSON, read once, at the pace of the handler. */
export interface RawBody {
  readonly kind: 'raw';
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface BodyRule<Schema extends TSchema> {
  readonly schema: Schema;
  readonly example: unknown;
  /** An absent body means `{}`. */
  readonly optional?: true;
  /** Content types beside `application/json` that carry plain JSON. */
  readonly mediaTypes?: readonly string[];
  /** Any other content type is taken as bytes, up to this many. */
  readonly rawMaxBytes?: number;
  /** JSON is taken as bytes, too. */
  readonly bytesOnly?: true;
  /** What those bytes may be, for the description. */
  readonly rawMediaTypes?: readonly string[];
  /** Text is stored as bytes, so NUL characters may stay. */
  readonly anyText?: true;
}

export interface ResponseRule {
  readonly description: string;
  /** Absent where there is no body. */
  readonly schema?: TSchema;
  /** Default `application/json`. */
  readonly mediaType?: string;
  /** Other content types that a request may ask for, each with the schema of its body. */
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

/** One request, validated. */
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
  /** Set instead of `body` where the operation takes bytes and got them. */
  readonly raw: RawBody | undefined;
  readonly principal: Rule extends 'public' ? undefined : Principal;
  readonly sessionId: Rule extends 'session' ? SessionId : undefined;
  /** For the commands of this request: who asks, from where, under which id. */
  readonly context: CommandContext;
  /** Address of the client. */
  readonly ip: string;
  /** Whether the client came over HTTPS. */
  readonly secure: boolean;
  /** What addresses of this service begin with for others, such as `https://host`. */
  readonly origin: string;
  /** Path and query as they were asked for. */
  readonly url: string;
  readonly header: (name: string) => string | undefined;
  /** All headers, by lower-case name. */
  readonly headers: IncomingHttpHeaders;
  /** A signal that is aborted when the client goes away. */
  readonly gone: () => AbortSignal;
  /** What the operation asked `ahead`. */
  readonly ahead: Promise<Ahead>;
}

export interface Alias {
  readonly method?: 'put';
  readonly path?: string;
  /** Served, but left out of the API description, whose rules some paths break. */
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
  /** With `{name}` for parameters; `{path}` takes slashes too. */
  readonly path: string;
  /** Other paths and methods that mean the same. */
  readonly aliases?: readonly Alias[];
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: Tag;
  readonly access: Rule;
  readonly parameters?: Parameters;
  readonly query?: Query;
  readonly body?: BodyRule<Body>;
  readonly requestHeaders?: readonly RequestHeader[];
  /** Names of the projections that it reads and that are written behind the append; a read that names
   *  an `Orch-Min-Position` waits for them. */
  readonly readsBehind?: readonly string[];
  /** Fields of the answer's JSON that are shown once: a repeated answer leaves them out. */
  readonly shownOnce?: readonly string[];
  /** Makes something: an `Idempotency-Key` gives the first answer again. */
  readonly creates?: true;
  readonly responses: Readonly<Record<number, ResponseRule>>;
  /** What it refuses beside what follows from the description itself. */
  readonly refusals?: readonly ProblemCode[];
  /** Asks for what the handler needs in any case, while it is looked up who asks. */
  readonly ahead?: (parameters: ParsedParameters<Parameters>, services: Services) => Promise<Ahead>;
  readonly handle: (
    call: Call<Parameters, Query, Body, Rule, Ahead>,
    services: Services,
  ) => Promise<Answer>;
}

/** An operation whose types have done their work. */
export type Operation = OperationDescription<PathParameters, TSchema, TSchema, Access, unknown>;

/** Describes an operation; its handler is checked against its schemas. */
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

/** Every method and path that leads to the operation, the reference form first. */
export function formsOf(one: Operation): readonly Form[] {
  return [
    { method: one.method, path: one.path, isDescribed: true },
    ...(one.aliases ?? []).map((alias) => ({
      method: alias.method ?? one.method,
      path: alias.path ?? one.path,
      isDescribed: alias.undescribed !== true,
    })),
  ];
}
