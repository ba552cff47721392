/** Messages that wake up processes and deliver live data. Messages may be lost, repeated or late, and a large
 *  message may be sent without its `items`. Subscribers therefore read the data from storage, and also poll. Only
 *  the list of users who edit a file is not stored. Backends send that list repeatedly, and it expires. */

import type { RunStatus } from '#domain/run/run.ts';
import type { SamplePoint } from './run-samples.ts';

/** A user who has a file open for editing. */
export interface Editor {
  readonly userId: string;
  readonly name: string;
}

export type BusMessage =
  /** Events of these types were recorded. If `types` is absent, events of any type may have been recorded. */
  | { readonly topic: 'events'; readonly types?: readonly string[] }
  | { readonly topic: 'queue' }
  | { readonly topic: 'stop'; readonly runId: string }
  | { readonly topic: 'status'; readonly runId: string }
  /** A run reported its progress. */
  | { readonly topic: 'progress'; readonly runId: string }
  /** A span of a run started or ended. */
  | { readonly topic: 'spans'; readonly runId: string }
  /** The users who have a file open for editing, as seen by one backend. */
  | {
      readonly topic: 'editors';
      readonly scriptId: string;
      readonly path: string;
      /** The backend that sent the message. */
      readonly backend: string;
      readonly editors: readonly Editor[];
      /** Whether other backends must send their lists of users too. */
      readonly asks: boolean;
    }
  /** A script was saved. */
  | {
      readonly topic: 'script-updated';
      readonly scriptId: string;
      readonly version: number;
      readonly position: number;
      /** RFC 3339. */
      readonly time: string;
    }
  | {
      readonly topic: 'script-completed';
      readonly scriptId: string;
      readonly runId: string;
      readonly status: RunStatus;
      readonly exitCode: number | null;
      /** The type of the run's error. Absent if the run has no error. */
      readonly errorType?: string;
      readonly position: number;
    }
  /** Requests that schedulers reload one schedule. If the IDs are absent, schedulers reload all schedules. */
  | {
      readonly topic: 'reload';
      readonly scriptId?: string;
      readonly scheduleId?: string;
      /** Position of the event that changed the schedule, if any. */
      readonly position?: number;
    }
  | {
      readonly topic: 'log';
      readonly runId: string;
      readonly firstSeq: number;
      readonly lastSeq: number;
      /** The items of the chunk, as a JSON array. Absent if the items are too large to send. */
      readonly items?: string;
    }
  | { readonly topic: 'sample'; readonly runId: string; readonly point: SamplePoint };

export type Topic = BusMessage['topic'];

export interface Bus {
  /** Tells the operator why the bus is unavailable. `undefined` while the bus is available. */
  readonly problem: string | undefined;
  /** Sends messages without waiting. If sending fails, the adapter logs the failure, and subscribers find the data
   *  later by polling. */
  publish(...messages: readonly BusMessage[]): void;
  /** Calls `listener` for every message of `topic`, including messages from this process. @returns a function that
   *  cancels the subscription */
  subscribe<T extends Topic>(
    topic: T,
    listener: (message: Extract<BusMessage, { topic: T }>) => void,
  ): () => void;
  /** Sends pending messages and disconnects. Further calls have no effect. */
  close(): Promise<void>;
}
