/** The current time, in UTC. Durations are measured elsewhere, with a monotonic clock. */
export interface Clock {
  now(): Date;
}
