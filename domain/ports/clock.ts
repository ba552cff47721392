/** The time of day, in UTC. Durations are measured elsewhere, on a monotonic clock. */
export interface Clock {
  now(): Date;
}
