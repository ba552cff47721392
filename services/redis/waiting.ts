/** The longest delay of a timer; longer waits have no limit. */
const longestTimerMs = 2 ** 31 - 1;

/** Calls back once: when the time is over, or when `signal` is aborted.
 *  @param forMs Infinity for no end
 *  @returns the way to call it off */
export function afterOrGone(forMs: number, signal: AbortSignal, then: () => void): () => void {
  const end = (): void => {
    cancel();
    then();
  };
  const timer = forMs > longestTimerMs ? undefined : setTimeout(end, forMs);
  const cancel = (): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  };
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  return cancel;
}
