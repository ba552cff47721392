/** Clients of a platform with intermittent failures. */
export abstract class PersistentClient {
  /** Repeats a request until there is a response.
   *  @param key the idempotency key, which makes the platform execute repeated requests only once
   *  @throws Error if the platform refuses the request, or does not respond for several minutes */
  abstract requestTextReliably(
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ): Promise<string>;

  /** Like `requestTextReliably`, but for a JSON response. */
  async requestReliably<Answer>(
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ): Promise<Answer> {
    return JSON.parse(await this.requestTextReliably(method, path, body, key)) as Answer;
  }
}

/** The platform permanently refused the request. */
export class Refused extends Error {}

/** A platform under test, as its clients see it. */
export abstract class Subject extends PersistentClient {
  /** Waits until each service reports that it is healthy. */
  abstract untilHealthy(): Promise<void>;
  abstract stop(): Promise<void>;
}
