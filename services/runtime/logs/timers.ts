/** Delays, injected so that tests decide when they end. */
export interface Timers {
  /** Calls `task` once after `delayMs`. @returns what calls it off */
  after(delayMs: number, task: () => void): () => void;
}

export const systemTimers: Timers = {
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  },
};
