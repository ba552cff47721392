/** Runs a background job repeatedly: a `runOnce` function and the timer that calls it. */
import type { Logger } from './logger.ts';

const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 2_000;

export interface LoopOptions {
  /** The job's name in logs. */
  readonly name: string;
  /** The pause between the end of a round and the start of the next round. */
  readonly everyMs: number;
  /** The delay between a wake-up and the round that it starts. Wake-ups during the delay share one round, and the
   *  caller's own work can continue first. Default: no delay. */
  readonly gatherMs?: number;
  /**
   * The minimum time between the starts of two rounds, even after wake-ups. Under load, this results in fewer rounds
   * with more work each. Default: no minimum.
   */
  readonly apartMs?: number;
  /** Runs one round. If the result is `true`, the next round starts immediately. `inMs` starts the next round after
   *  that time, if earlier than usual.
   *  @param signal aborted by `stop` */
  readonly runOnce: (signal: AbortSignal) => Promise<boolean | void | { readonly inMs: number }>;
  readonly logger: Pick<Logger, 'error'>;
}

export interface Loop {
  /** Starts a round immediately, or as soon as the current round has finished. */
  wake(): void;
  /** Starts no further rounds, and waits for the current round. Idempotent. */
  stop(): Promise<void>;
}

/** Starts a loop and its first round immediately. A failed round is logged and retried with backoff, which wake-ups do
 *  not shorten. */
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
        if (signal.aborted) return; // `stop` aborted the round
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
