/** `Idempotency-Key`: the same key and body give the first answer again, for 24 hours. The key names
 *  the command itself, so that even two processes, or one that fell between the command and its
 *  answer, carry it out once. */
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

/** What an `Idempotency-Key` has to match. */
export const keyPattern = /^[\x21-\x7e]{1,255}$/;

/** An answer as it goes over the wire. */
export interface Rendered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Set where it is a problem that was made just now. */
  readonly code?: ProblemCode;
  readonly resource?: string;
}

export interface KeyedRequest {
  readonly key: string;
  readonly userId: UserId;
  readonly method: string;
  readonly path: string;
  readonly body: Uint8Array;
  /** Fields of the answer's JSON that are neither kept nor given again. */
  readonly shownOnce: readonly string[];
}

export interface IdempotencyParts {
  readonly database: Queryable;
  readonly ids: Ids;
  readonly clock: Clock;
}

export class Idempotency {
  readonly #parts: IdempotencyParts;
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(parts: IdempotencyParts) {
    this.#parts = parts;
  }

  /** Gives the first answer again, or makes it.
   *  @param make answers the request; its commands must go by the given context */
  async answer(
    request: KeyedRequest,
    make: (own: Pick<CommandContext, 'commandId' | 'fingerprint'>) => Promise<Rendered>,
  ): Promise<Rendered | Problem> {
    const { database, ids, clock } = this.#parts;
    if (!keyPattern.test(request.key)) return badKey;
    const commandId = mustParse(parseCommandId, ids.derived(request.userId, request.key));
    const fingerprint = fingerprintOf(request);
    // One at a time for each key, the look for an earlier answer included.
    const before = this.#underWay.get(commandId);
    const turn = (async () => {
      await before?.catch(() => undefined);
      const stored = await findStoredAnswer(database, commandId, clock.now());
      return stored === undefined
        ? await this.#make(commandId, { fingerprint, shownOnce: request.shownOnce }, make)
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
    { fingerprint, shownOnce }: { fingerprint: string; shownOnce: readonly string[] },
    make: (own: Pick<CommandContext, 'commandId' | 'fingerprint'>) => Promise<Rendered>,
  ): Promise<Rendered> {
    const { database, clock } = this.#parts;
    const rendered = await make({ commandId, fingerprint });
    // What failed here may go well the next time; what was decided stays decided.
    if (rendered.status < 500) {
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

/** A key that was used for something else. */
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
