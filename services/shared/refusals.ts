/** Puts every refused request into the audit trail, behind the answer: a bounded buffer that is
 *  emptied in the background. What comes too fast to keep each is counted together. */
import type { Actor } from '#domain/kernel/actor.ts';
import { mustParse, parseCommandId, parseRefusalId } from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { Logger } from './logger.ts';
import { startLoop, type Loop } from './loop.ts';

export interface Refused {
  /** Method and template of the path, never the path itself: it may hold a token. */
  readonly operation: string;
  /** Stream id of what it was tried on, such as `script-…`. */
  readonly resource: string | null;
  readonly code: string;
  readonly status: number;
  readonly actor: Actor;
  readonly ip: string | null;
  readonly correlationId: string;
}

type Counted = Refused & { count: number };

/** Up to this burst, and this sustained rate, refusals are recorded individually. */
const burst = 200;
const perSecond = 20;
/** Distinct kinds that are counted apart; beyond them actor and address are left out. */
const maxKinds = 200;
const flushEveryMs = 200;

export interface RefusalRecorderParts {
  readonly commands: Commands;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'error'>;
}

export class RefusalRecorder {
  readonly #parts: RefusalRecorderParts;
  readonly #loop: Loop;
  readonly #counted = new Map<string, Counted>();
  #single: Counted[] = [];
  #flushing: Promise<unknown> = Promise.resolve();
  #allowance = burst;
  #allowedAtMs: number;

  constructor(parts: RefusalRecorderParts) {
    this.#parts = parts;
    this.#allowedAtMs = parts.clock.now().getTime();
    this.#loop = startLoop({
      name: 'record refusals',
      everyMs: flushEveryMs,
      runOnce: () => this.flush(),
      logger: parts.logger,
    });
  }

  /** Remembers a refusal; never waits, never fails. */
  note(refused: Refused): void {
    this.#keep({ ...refused, count: 1 }, this.#takeAllowance());
  }

  /** Records what is remembered, after what is being recorded already.
   *  @throws when that failed; it is remembered still */
  flush(): Promise<void> {
    const next = this.#flushing.then(() => this.#recordAll());
    this.#flushing = next.catch(() => undefined);
    return next;
  }

  /** Records what is left, as far as that is possible; safe twice. */
  async close(): Promise<void> {
    await this.#loop.stop();
    await this.flush().catch((error: unknown) => {
      this.#parts.logger.error(
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
    // Few at a time: refusals must not take the connections of those who are let in.
    await Promise.all([work(), work()]);
  }

  async #record({ actor, ip, correlationId, ...refused }: Counted): Promise<void> {
    const { commands, ids } = this.#parts;
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
    const nowMs = this.#parts.clock.now().getTime();
    const earned = ((nowMs - this.#allowedAtMs) / 1000) * perSecond;
    this.#allowance = Math.min(burst, this.#allowance + Math.max(0, earned));
    this.#allowedAtMs = nowMs;
    if (this.#allowance < 1) return false;
    this.#allowance -= 1;
    return true;
  }
}
