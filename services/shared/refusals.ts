/** Records every refused request in the audit trail. A bounded buffer holds the refusals, which are recorded in the
 *  background after the response. If there are too many, similar refusals are combined and counted. */
import type { Actor } from '#domain/kernel/actor.ts';
import { mustParse, parseCommandId, parseRefusalId } from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { Logger } from './logger.ts';
import { startLoop, type Loop } from './loop.ts';

export interface Refused {
  /** The method and the path template. The path itself may contain a token and is never recorded. */
  readonly operation: string;
  /** The stream ID of the affected resource, such as `script-…`. */
  readonly resource: string | null;
  readonly code: string;
  readonly status: number;
  readonly actor: Actor;
  readonly ip: string | null;
  readonly correlationId: string;
}

type Counted = Refused & { count: number };

/** The number of refusals in a burst that are recorded individually. After a burst, `perSecond` refusals per second are
 *  recorded individually. */
const burst = 200;
const perSecond = 20;
/** The maximum number of refusal kinds that are counted separately. Further refusals are counted without actor and
 *  address. */
const maxKinds = 200;
const flushEveryMs = 200;

export interface RefusalRecorderDeps {
  readonly commands: Commands;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'error'>;
}

export class RefusalRecorder {
  readonly #deps: RefusalRecorderDeps;
  readonly #loop: Loop;
  readonly #counted = new Map<string, Counted>();
  #single: Counted[] = [];
  #flushing: Promise<unknown> = Promise.resolve();
  #allowance = burst;
  #allowedAtMs: number;

  constructor(deps: RefusalRecorderDeps) {
    this.#deps = deps;
    this.#allowedAtMs = deps.clock.now().getTime();
    this.#loop = startLoop({
      name: 'record refusals',
      everyMs: flushEveryMs,
      runOnce: () => this.flush(),
      logger: deps.logger,
    });
  }

  /** Buffers a refusal. It never waits and never throws. */
  note(refused: Refused): void {
    this.#keep({ ...refused, count: 1 }, this.#takeAllowance());
  }

  /** Records the buffered refusals after any recording in progress.
   *  @throws on failure, in which case the refusals stay buffered */
  flush(): Promise<void> {
    const next = this.#flushing.then(() => this.#recordAll());
    this.#flushing = next.catch(() => undefined);
    return next;
  }

  /** Tries to record the buffered refusals. Idempotent. */
  async close(): Promise<void> {
    await this.#loop.stop();
    await this.flush().catch((error: unknown) => {
      this.#deps.logger.error(
        { error, lost: this.#single.length },
        'rejected requests were not recorded',
      );
    });
  }

  async #recordAll(): Promise<void> {
    const waiting = [...this.#single, ...this.#counted.values()];
    this.#single = [];
    this.#counted.clear();
    const work = async (): Promise<void> => {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
        await this.#record(one).catch((error: unknown) => {
          for (const left of [one, ...waiting.splice(0)]) this.#keep(left, true);
          throw error;
        });
      }
    };
    // Limits concurrency, because accepted requests need the database connections.
    await Promise.all([work(), work()]);
  }

  async #record({ actor, ip, correlationId, ...refused }: Counted): Promise<void> {
    const { commands, ids } = this.#deps;
    await commands.execute(
      { type: 'RecordRefusal', refusalId: mustParse(parseRefusalId, ids.next()), ...refused },
      {
        commandId: mustParse(parseCommandId, ids.next()),
        actor,
        ip,
        correlationId,
        causationId: null,
      },
    );
  }

  #keep(one: Counted, apart: boolean): void {
    if (apart && this.#single.length < burst) {
      this.#single.push(one);
      return;
    }
    const { operation, code, actor, ip } = one;
    const kind = `${operation} ${code} ${'userId' in actor ? actor.userId : actor.kind} ${ip}`;
    if (this.#counted.has(kind) || this.#counted.size < maxKinds) {
      this.#count(kind, { ...one, resource: null });
    } else {
      const anonymous = { actor: { kind: 'anonymous' }, ip: null, resource: null } as const;
      this.#count(`${operation} ${code}`, { ...one, ...anonymous });
    }
  }

  #count(kind: string, one: Counted): void {
    const present = this.#counted.get(kind);
    if (present === undefined) this.#counted.set(kind, one);
    else present.count += one.count;
  }

  #takeAllowance(): boolean {
    const nowMs = this.#deps.clock.now().getTime();
    const earned = ((nowMs - this.#allowedAtMs) / 1000) * perSecond;
    this.#allowance = Math.min(burst, this.#allowance + Math.max(0, earned));
    this.#allowedAtMs = nowMs;
    if (this.#allowance < 1) return false;
    this.#allowance -= 1;
    return true;
  }
}
