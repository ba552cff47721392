/** Measures the frame times and the memory of a page in a real browser. */
import type { Page } from 'playwright-core';

/** Returns the times between frames, in milliseconds, shortest first. */
export async function framesWhile(
  page: Page,
  work: () => Promise<unknown>,
): Promise<readonly number[]> {
  await page.evaluate(`{
    const times = (globalThis.frameTimes = []);
    const note = (time) => (times.push(time), requestAnimationFrame(note));
    requestAnimationFrame(note);
  }`);
  await work();
  const times = await page.evaluate<number[]>('globalThis.frameTimes');
  return times
    .slice(1)
    .map((time, index) => time - (times[index] ?? time))
    .toSorted((one, other) => one - other);
}

/** Describes the number of frames and their times. */
export function words(gaps: readonly number[]): string {
  const at = (share: number) => Math.round(gaps[Math.floor(share * (gaps.length - 1))] ?? 0);
  return `${gaps.length}: median ${at(0.5)}, 99 % ${at(0.99)}, most ${at(1)} ms`;
}

/** Describes the size of the JavaScript heap after a garbage collection. */
export async function heapOf(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return `${Math.round(usedSize / 1e6)} MB`;
}
