/** The maximum delay of a Node timer. Longer waits have no timeout. */
const maxTimerMs = 2 ** 31 - 1;

/** Calls `then` once, either after `forMs` or when `signal` is aborted.
 *  @param forMs the time to wait; Infinity waits only for the signal
 *  @returns a function that cancels the call */
export function afterOrGone(forMs: number, signal: AbortSignal, then: () => void): () => void {
  const end = (): void => {
    cancel();
    then();
  };
  const timer = forMs > maxTimerMs ? undefined : setTimeout(end, forMs);
  const cancel = (): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  };
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  return cancel;
}
