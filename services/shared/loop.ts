/** A background job: a `runOnce`, and a thin timer that calls it. */
import type { Logger } from './logger.ts';

const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 2_000;

export interface LoopOptions {
  /** Name of the job in logs. */
  readonly name: string;
  /** Pause between the end of one round and the start of the next. */
  readonly everyMs: number;
  /** The pause between a wake-up and its round. Wake-ups in quick succession then share a round, and the code that
   *  caused the wake-up can continue first. Default: none. */
  readonly gatherMs?: number;
  /** The minimum time between the starts of two rounds, even if there are wake-ups. Under load, there are then fewer
   *  rounds, which do more work each. Default: none. */
  readonly apartMs?: number;
  /** Runs one round. `true` means that more work can be done immediately. A time means that the next round is due at
   *  this time, which may be earlier than usual.
   *  @param signal aborted by `stop` */
  readonly runOnce: (signal: AbortSignal) => Promise<boolean | void | { readonly inMs: number }>;
  readonly logger: Pick<Logger, 'error'>;
}

export interface Loop {
  /** Starts a round immediately, or after the current one. */
  wake(): void;
  /** Waits for the current round, and starts no other. Idempotent. */
  stop(): Promise<void>;
}

/** Starts a loop immediately. A failed round is logged and retried after growing delays, which a wake-up does not
 *  shorten. */
export function startLoop(options: LoopOptions): Loop {
  const stopping = new AbortController();
  const { signal } = stopping;
  const bell = createBell();

  const work = async (): Promise<void> => {
    let failures = 0;
    while (!signal.aborted) {
      bell.reset();
      const startedMs = performance.now();
      try {
        const more = await options.runOnce(signal);
        failures = 0;
        if (more === true) continue;
        const nextMs = Math.min(options.everyMs, typeof more === 'object' ? more.inMs : Infinity);
        const gatherMs = Math.min(options.gatherMs ?? 0, nextMs);
        await pause(nextMs - gatherMs, signal, bell);
        const earlyMs = (options.apartMs ?? 0) - (performance.now() - startedMs);
        const restMs = Math.max(gatherMs, earlyMs);
        if (restMs > 0) await pause(restMs, signal);
      } catch (error) {
        if (signal.aborted) return; // the round was aborted by stop
        failures += 1;
        options.logger.error({ loop: options.name, failures, error }, 'background task failed');
        await pause(backoffMs(failures), signal);
      }
    }
  };

  const finished = work();
  return {
    wake: () => bell.ring(),
    stop() {
      stopping.abort();
      return finished;
    },
  };
}

interface Bell {
  ring(): void;
  reset(): void;
  /** Calls `listener` when the bell rings. If the bell has already rung, calls it immediately.
   *  @returns a function that unsubscribes */
  onRing(listener: () => void): () => void;
}

function createBell(): Bell {
  let rung = false;
  let listener: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      listener?.();
    },
    reset() {
      rung = false;
    },
    onRing(added) {
      listener = added;
      if (rung) added();
      return () => (listener = undefined);
    },
  };
}

function pause(delayMs: number, signal: AbortSignal, bell?: Bell): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      leave?.();
      resolve();
    };
    const timer = setTimeout(end, delayMs);
    signal.addEventListener('abort', end);
    let leave: (() => void) | undefined;
    if (signal.aborted) end();
    else leave = bell?.onRing(end);
  });
}

function backoffMs(failures: number): number {
  return Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(failures - 1, 10));
}
