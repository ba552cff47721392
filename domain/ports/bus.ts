/** Wake-ups and live data between processes. Everything on the bus is a hint: a message may be lost,
 *  repeated or late, and may lose its `items` when it is large. Whoever listens reads the truth from
 *  storage and polls as the guarantee. */

import type { RunStatus } from '#domain/run/run.ts';
import type { SamplePoint } from './run-samples.ts';

export type BusMessage =
  /** Something was recorded: events of these types, or without them of any. */
  | { readonly topic: 'events'; readonly types?: readonly string[] }
  | { readonly topic: 'queue' }
  | { readonly topic: 'stop'; readonly runId: string }
  | { readonly topic: 'status'; readonly runId: string }
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
      readonly position: number;
    }
  /** Schedulers are to look anew: at one schedule, or without a name at them all. */
  | {
      readonly topic: 'reload';
      readonly scriptId?: string;
      readonly scheduleId?: string;
      /** Of the change, where an event made it. */
      readonly position?: number;
    }
  | {
      readonly topic: 'log';
      readonly runId: string;
      readonly firstSeq: number;
      readonly lastSeq: number;
      /** JSON array text of the chunk's items, where it was small enough to travel. */
      readonly items?: string;
    }
  | { readonly topic: 'sample'; readonly runId: string; readonly point: SamplePoint };

export type Topic = BusMessage['topic'];

export interface Bus {
  /** Why messages do not travel at present, in words for the operator; `undefined` while they do. */
  readonly problem: string | undefined;
  /** Sends without waiting; a failure is logged by the adapter and costs only latency. */
  publish(...messages: readonly BusMessage[]): void;
  /** Calls `listener` for every message of `topic`, own ones included. @returns the unsubscriber */
  subscribe<T extends Topic>(
    topic: T,
    listener: (message: Extract<BusMessage, { topic: T }>) => void,
  ): () => void;
  /** Settles everything under way and disconnects; safe twice. */
  close(): Promise<void>;
}
