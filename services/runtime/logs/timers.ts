/** Delays that tests can control. */
export interface Timers {
  /** Calls `task` once after `delayMs`. @returns a function that cancels the call */
  after(delayMs: number, task: () => void): () => void;
}

export const systemTimers: Timers = {
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  },
};
