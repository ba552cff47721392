/** Measures the CPU time that this process uses for the work, in milliseconds. Unlike wall-clock time, CPU time does
 *  not increase on a busy machine. */
export function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
