/** Wake-ups and live data between processes. Every message is a hint: it may be lost, repeated or late, and a
 *  large message may lose its `items`. Subscribers read the data from storage, and poll in case a message is lost.
 *  Only the editors of files are not stored: their messages are repeated, and expire. */

import type { RunStatus } from '#domain/run/run.ts';
import type { SamplePoint } from './run-samples.ts';

/** A user who has a file open for editing. */
export interface Editor {
  readonly userId: string;
  readonly name: string;
}

export type BusMessage =
  /** Events of these types were recorded. Without types: events of any type. */
  | { readonly topic: 'events'; readonly types?: readonly string[] }
  | { readonly topic: 'queue' }
  | { readonly topic: 'stop'; readonly runId: string }
  | { readonly topic: 'status'; readonly runId: string }
  /** A run reported its progress. */
  | { readonly topic: 'progress'; readonly runId: string }
  /** Spans of a run have started or ended. */
  | { readonly topic: 'spans'; readonly runId: string }
  /** The users who have a file open for editing, according to one backend. */
  | {
      readonly topic: 'editors';
      readonly scriptId: string;
      readonly path: string;
      /** The backend that announces its users. */
      readonly backend: string;
      readonly editors: readonly Editor[];
      /** Whether other backends should announce their users, too. */
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
      /** The type of the run's error; absent without an error. */
      readonly errorType?: string;
      readonly position: number;
    }
  /** Makes schedulers reload one schedule, or all schedules if the IDs are absent. */
  | {
      readonly topic: 'reload';
      readonly scriptId?: string;
      readonly scheduleId?: string;
      /** Position of the event that caused the change, if any. */
      readonly position?: number;
    }
  | {
      readonly topic: 'log';
      readonly runId: string;
      readonly firstSeq: number;
      readonly lastSeq: number;
      /** JSON array text of the chunk's items, if small enough to send. */
      readonly items?: string;
    }
  | { readonly topic: 'sample'; readonly runId: string; readonly point: SamplePoint };

export type Topic = BusMessage['topic'];

export interface Bus {
  /** Why the bus is unavailable, as a message for the operator; `undefined` while it works. */
  readonly problem: string | undefined;
  /** Sends without waiting. The adapter logs a failure, which only adds latency. */
  publish(...messages: readonly BusMessage[]): void;
  /** Calls `listener` for every message of `topic`, including messages of this process. @returns the unsubscriber */
  subscribe<T extends Topic>(
    topic: T,
    listener: (message: Extract<BusMessage, { topic: T }>) => void,
  ): () => void;
  /** Flushes pending messages and disconnects; idempotent. */
  close(): Promise<void>;
}
