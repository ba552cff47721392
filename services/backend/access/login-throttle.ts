/** Limits failed sign-ins: 5 per account and 20 per address in 5 minutes (contract §6), across all backends. An
 *  address that has signed in to an account before has its own count for that account. Failures from other addresses
 *  therefore never lock out the account's owner. */
import type { UserId } from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import type { ReadModels } from '#projections/projection.ts';
import { hasSignedInFrom } from '#projections/sessions/queries.ts';
import { clearFailures, countAttempt, undoAttempt } from '#infra/postgres/access/login-failures.ts';
import { KeyedSemaphore } from './keyed-semaphore.ts';

const perAccount = 5;
const perAddress = 20;
export const windowSeconds = 300;

/** Maximum number of concurrent checks per address. */
const atOncePerAddress = 10;
const maxWaiting = 50;

export interface Attempt {
  /** The email address as typed, in lower case. */
  readonly email: string;
  readonly userId: UserId | undefined;
  readonly ip: string;
}

/** `incomplete`: the password is correct, but the second factor is missing. The attempt does not count as a
 *  failure, and does not reset the count. */
export type CheckResult = 'right' | 'wrong' | 'incomplete';

export type Admission =
  | { readonly kind: 'checked'; readonly result: CheckResult }
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number; readonly limit: number };

/** A counter of failed attempts. */
interface Subject {
  readonly name: string;
  readonly limit: number;
  readonly atOnce: number;
}

interface ThrottleOptions {
  readonly database: Queryable;
  readonly readModels: ReadModels;
  readonly clock: Clock;
}

export class LoginThrottle {
  readonly #db: Queryable;
  readonly #readModels: ReadModels;
  readonly #clock: Clock;
  readonly #semaphore = new KeyedSemaphore();

  constructor({ database, readModels, clock }: ThrottleOptions) {
    this.#db = database;
    this.#readModels = readModels;
    this.#clock = clock;
  }

  /** Runs `check` unless too many earlier attempts have failed, and counts a failure. Attempts on one account run
   *  one at a time, so concurrent attempts cannot bypass the limit. */
  async admit(attempt: Attempt, check: () => Promise<CheckResult>): Promise<Admission> {
    const subjects = await this.#subjectsOf(attempt);
    const taken: Subject[] = [];
    try {
      for (const subject of subjects) {
        if (!(await this.#semaphore.acquire(subject.name, subject.atOnce, maxWaiting))) {
          return { kind: 'throttled', retryAfterSeconds: 1, limit: subject.limit };
        }
        taken.push(subject);
      }
      return await this.#attempt(subjects, check);
    } finally {
      for (const { name } of taken) this.#semaphore.release(name);
    }
  }

  /** The attempt counts as failed until it succeeds, so that concurrent attempts at other backends are counted
   *  correctly. */
  async #attempt(
    [account, ...others]: readonly [Subject, ...Subject[]],
    check: () => Promise<CheckResult>,
  ): Promise<Admission> {
    const subjects = [account, ...others];
    const now = this.#clock.now();
    const names = subjects.map(({ name }) => name);
    const counts = await countAttempt(this.#db, names, now);
    for (const { name, limit } of subjects) {
      const count = counts.get(name);
      if (count === undefined || count.failures <= limit) continue;
      const retryAfterSeconds = (count.windowEndsAt.getTime() - now.getTime()) / 1000;
      return { kind: 'throttled', retryAfterSeconds: Math.ceil(retryAfterSeconds), limit };
    }
    const result = await check();
    if (result === 'right') await clearFailures(this.#db, account.name);
    if (result === 'incomplete') await undoAttempt(this.#db, account.name);
    if (result !== 'wrong') for (const { name } of others) await undoAttempt(this.#db, name);
    return { kind: 'checked', result };
  }

  /** Returns the account's count first, because it is checked first. */
  async #subjectsOf({ email, userId, ip }: Attempt): Promise<readonly [Subject, ...Subject[]]> {
    const account = { limit: perAccount, atOnce: 1 };
    if (userId !== undefined && (await hasSignedInFrom(this.#readModels, userId, ip))) {
      return [{ ...account, name: `account ${email} from ${ip}` }];
    }
    return [
      { ...account, name: `account ${email}` },
      { name: `address ${ip}`, limit: perAddress, atOnce: atOncePerAddress },
    ];
  }
}
