/** How often sign-ins may fail: 5 times per account and 20 per address in 5 minutes (contract §6).
 *
 *  An address from which the account was signed in before has a count of its own for it, so that
 *  failures elsewhere never lock its owner out. */
import type { UserId } from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { addFailure, clearFailures, readFailures } from './stores/login-failures.ts';

const perAccount = 5;
const perAddress = 20;
export const windowSeconds = 300;
/** Attempts on one account that may wait for each other. */
const maxWaiting = 50;

const signedInFrom = `SELECT 1 FROM (
    SELECT session_id FROM sessions WHERE user_id = $1 ORDER BY opened_at DESC LIMIT 50) s
  JOIN events e ON e.stream_id = 'session-' || s.session_id AND e.version = 1
  WHERE e.metadata ->> 'ip' = $2 LIMIT 1`;

export interface Attempt {
  /** As it was typed, in lower case. */
  readonly email: string;
  readonly userId: UserId | undefined;
  readonly ip: string;
}

export type Admission =
  | { readonly kind: 'checked'; readonly matches: boolean }
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number; readonly limit: number };

export class LoginThrottle {
  readonly #db: Queryable;
  readonly #clock: Clock;
  readonly #queues = new Map<string, { waiting: number; last: Promise<unknown> }>();

  constructor(db: Queryable, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Lets `check` look at the password unless too many failed before, and counts its failure.
   *  Attempts on one account wait for each other, so that many at once count like many in turn. */
  async admit(attempt: Attempt, check: () => Promise<boolean>): Promise<Admission> {
    const queue = this.#queues.get(attempt.email) ?? { waiting: 0, last: Promise.resolve() };
    if (queue.waiting >= maxWaiting) {
      return { kind: 'throttled', retryAfterSeconds: 1, limit: perAccount };
    }
    this.#queues.set(attempt.email, queue);
    queue.waiting += 1;
    const turn = queue.last.then(() => this.#attempt(attempt, check));
    queue.last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      queue.waiting -= 1;
      if (queue.waiting === 0) this.#queues.delete(attempt.email);
    }
  }

  async #attempt(attempt: Attempt, check: () => Promise<boolean>): Promise<Admission> {
    const limits = await this.#limitsFor(attempt);
    const subjects = [...limits.keys()];
    const now = this.#clock.now();
    const counts = await readFailures(this.#db, subjects, now);
    for (const [subject, limit] of limits) {
      const count = counts.get(subject);
      if (count === undefined || count.failures < limit) continue;
      const retryAfterSeconds = (count.windowEndsAt.getTime() - now.getTime()) / 1000;
      return { kind: 'throttled', retryAfterSeconds: Math.ceil(retryAfterSeconds), limit };
    }
    const matches = await check();
    if (!matches) await addFailure(this.#db, subjects, this.#clock.now());
    else if (counts.size > 0) await clearFailures(this.#db, [subjects[0] ?? '']);
    return { kind: 'checked', matches };
  }

  /** What counts this attempt, the account's own count first. */
  async #limitsFor({ email, userId, ip }: Attempt): Promise<ReadonlyMap<string, number>> {
    if (userId !== undefined && (await this.#hasSignedInFrom(userId, ip))) {
      return new Map([[`account ${email} from ${ip}`, perAccount]]);
    }
    return new Map([
      [`account ${email}`, perAccount],
      [`address ${ip}`, perAddress],
    ]);
  }

  async #hasSignedInFrom(userId: UserId, ip: string): Promise<boolean> {
    const { rows } = await this.#db.query(signedInFrom, [userId, ip]);
    return rows.length > 0;
  }
}
