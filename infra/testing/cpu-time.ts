/** The CPU time of this process during the work, in milliseconds: unlike the time of the clock, a busy machine does not
 *  extend it. */
export function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
