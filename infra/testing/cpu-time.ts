/** The CPU time of this process during the work, in milliseconds. Unlike wall-clock time, it does not grow on a busy
 *  machine. */
export function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
