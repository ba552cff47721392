/** The current time in UTC. Code that measures durations uses a monotonic clock instead. */
export interface Clock {
  now(): Date;
}
