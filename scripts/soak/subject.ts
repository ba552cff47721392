/** A platform under test, as its clients see it. */
export interface Subject {
  /** Repeats a request until it is answered. @param key makes the repetitions one request
   *  @throws Error when the platform refuses the request, or does not answer for minutes */
  insist<Answer>(method: string, path: string, body?: unknown, key?: string): Promise<Answer>;
  /** The same for an answer that is not JSON. */
  insistText(method: string, path: string, body?: unknown, key?: string): Promise<string>;
  /** Waits until each service is healthy by its own health check. */
  untilHealthy(): Promise<void>;
  stop(): Promise<void>;
}
