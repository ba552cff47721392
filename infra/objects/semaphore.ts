/** Limits concurrency: at most `width` tasks run at the same time. Other tasks wait in order. */
export function createSemaphore(width: number): <T>(task: () => Promise<T>) => Promise<T> {
  let free = width;
  const waiting: (() => void)[] = [];

  return async (task) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      // Passes the slot directly to the next waiting task, so that newer tasks cannot overtake it.
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
