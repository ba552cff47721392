/** Implements `Idempotency-Key`. For 24 hours, a repeated request with the same key and body gets the first
 *  response, unless the client disconnected before it. The command ID is derived from the key. The command is therefore
 *  executed once, even if two processes receive the request or a process crashes before it responds. */
import { createHash } from 'node:crypto';
import { mustParse, parseCommandId, type UserId } from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import {
  findStoredAnswer,
  storeFirstAnswer,
  type StoredAnswer,
} from '#infra/postgres/access/idempotency-answers.ts';
import { problem, type Problem, type ProblemCode } from './problem.ts';

/** The pattern of valid `Idempotency-Key` values. */
export const keyPattern = /^[\x21-\x7e]{1,255}$/;

/** A response as sent to the client. */
export interface Rendered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The problem code, if the request failed. */
  readonly code?: ProblemCode;
  readonly resource?: string;
}

export interface KeyedRequest {
  readonly key: string;
  readonly userId: UserId;
  readonly method: string;
  readonly path: string;
  readonly body: Uint8Array;
  /** JSON fields that only the first response contains. They are not stored. */
  readonly shownOnce: readonly string[];
  /** Aborts when the client has disconnected. */
  readonly gone: AbortSignal;
}

export interface IdempotencyDeps {
  readonly database: Queryable;
  readonly ids: Ids;
  readonly clock: Clock;
}

export class Idempotency {
  readonly #deps: IdempotencyDeps;
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(deps: IdempotencyDeps) {
    this.#deps = deps;
  }

  /** Returns the first response, or creates it.
   *  @param make handles the request, and must pass the given context to its commands */
  async answer(
    request: KeyedRequest,
    make: (own: Pick<CommandContext, 'commandId' | 'fingerprint'>) => Promise<Rendered>,
  ): Promise<Rendered | Problem> {
    const { database, ids, clock } = this.#deps;
    if (!keyPattern.test(request.key)) return badKey;
    const commandId = mustParse(parseCommandId, ids.derived(request.userId, request.key));
    const fingerprint = fingerprintOf(request);
    // Requests with the same key run one at a time, including the lookup of a stored response.
    const before = this.#underWay.get(commandId);
    const turn = (async () => {
      await before?.catch(() => undefined);
      const stored = await findStoredAnswer(database, commandId, clock.now());
      return stored === undefined
        ? await this.#make(commandId, fingerprint, request, make)
        : again(stored, fingerprint);
    })();
    this.#underWay.set(commandId, turn);
    try {
      return await turn;
    } finally {
      if (this.#underWay.get(commandId) === turn) this.#underWay.delete(commandId);
    }
  }

  async #make(
    commandId: CommandContext['commandId'],
    fingerprint: string,
    { shownOnce, gone }: Pick<KeyedRequest, 'shownOnce' | 'gone'>,
    make: (own: Pick<CommandContext, 'commandId' | 'fingerprint'>) => Promise<Rendered>,
  ): Promise<Rendered> {
    const { database, clock } = this.#deps;
    const rendered = await make({ commandId, fingerprint });
    // Server errors are not stored, because the request may succeed on retry. If no client received the response, a
    // repeated request gets a current one: for example, it waits for the end of the run again.
    if (rendered.status < 500 && !gone.aborted) {
      const { status, headers } = rendered;
      const body = without(rendered.body, shownOnce);
      const answer = { fingerprint, status, headers, body };
      await storeFirstAnswer(database, commandId, answer, clock.now());
    }
    return rendered;
  }
}

function without(body: string, names: readonly string[]): string {
  if (names.length === 0) return body;
  const fields = Object.entries(JSON.parse(body) as object);
  return JSON.stringify(Object.fromEntries(fields.filter(([name]) => !names.includes(name))));
}

const badKey = problem(
  'invalid_parameter',
  'The Idempotency-Key must have 1 to 255 visible ASCII characters.',
);

/** The response if the key was used for another request. */
export const keyReused = problem(
  'idempotency_key_reused',
  'The Idempotency-Key was already used with a different request.',
);

function again(stored: StoredAnswer, fingerprint: string): Rendered | Problem {
  if (stored.fingerprint !== fingerprint) return keyReused;
  const { status, headers, body } = stored;
  return { status, headers: { ...headers, 'Idempotency-Replayed': 'true' }, body };
}

function fingerprintOf({ method, path, body }: KeyedRequest): string {
  return createHash('sha256').update(`${method} ${path}\n`).update(body).digest('hex');
}
