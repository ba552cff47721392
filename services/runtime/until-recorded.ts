import { setTimeout as pause } from 'node:timers/promises';

const firstPauseMs = 100;
const maxPauseMs = 2_000;

/** Retries until the task succeeds. A run's outcome must be recorded even after a long database outage. */
export async function untilRecorded<Result>(
  task: () => Promise<Result>,
  onFailure: (error: unknown) => void,
): Promise<Result> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, pauseMs * 2)) {
    try {
      return await task();
    } catch (error) {
      onFailure(error);
    }
    await pause(pauseMs);
  }
}
