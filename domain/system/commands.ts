/** Holds everything that would start by itself: schedules, webhooks, chains, retries and bots. What a
 *  person, a client or a producer asks for goes on. */
export interface PauseTriggers {
  readonly type: 'PauseTriggers';
}

/** Releases what was held. */
export interface ResumeTriggers {
  readonly type: 'ResumeTriggers';
}

export type SystemCommand = PauseTriggers | ResumeTriggers;
