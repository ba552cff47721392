/** A file with observations from outside the platform: responses to clients, and actions of scripts. */
import { appendFileSync, readFileSync } from 'node:fs';

export type Entry =
  /** The platform accepted a run. With `isAlone`, runs of `script` execute one at a time. */
  | { readonly what: 'accepted'; readonly run: string; readonly script: string }
  /** The platform accepted a version of a file. */
  | { readonly what: 'saved'; readonly script: string; readonly content: string }
  /** Reported by a process of a run. `process` distinguishes two processes of the same run. */
  | {
      readonly what: 'started' | 'alive' | 'ended';
      readonly run: string;
      readonly script: string;
      readonly process: string;
    }
  /** A fault was applied, or the platform responded again after the fault. */
  | { readonly what: 'fault' | 'recovered'; readonly fault: string }
  /** All data that was acknowledged so far is part of the state `point`, such as a backup. */
  | { readonly what: 'marked'; readonly point: string }
  /** The platform was asked to return to the state `point`, or has returned to it. Data that is newer than the state
   *  may be lost. */
  | { readonly what: 'returning' | 'returned'; readonly point: string }
  /** All clocks moved ahead by days while the platform was off. Queued runs then expire, because the limit in the queue
   *  is a day. */
  | { readonly what: 'days passed' }
  /** An operation began. */
  | { readonly what: 'begun'; readonly operation: string; readonly id: string }
  /** Processes were killed while the platform reported the step `step` of the operation. */
  | {
      readonly what: 'struck';
      readonly operation: string;
      readonly id: string;
      readonly step: string;
    }
  /** The operation ended. Outcomes outside of `expected` are wrong. */
  | {
      readonly what: 'concluded';
      readonly operation: string;
      readonly id: string;
      readonly outcome: string;
      readonly expected: readonly string[];
    }
  /** The final state of a run in the platform. */
  | {
      readonly what: 'final';
      readonly run: string;
      readonly script: string;
      readonly status: string;
      readonly reason: string | null;
      /** The run that this run retries. */
      readonly retryOf: string | null;
    }
  /** A backend failed to respond to a request while another backend was being replaced. */
  | {
      readonly what: 'refused';
      readonly backend: string;
      readonly request: string;
      /** Null if the connection failed. */
      readonly status: number | null;
    }
  /** The final state of a file in the platform. */
  | { readonly what: 'kept'; readonly script: string; readonly content: string };

/** An entry with its time, in milliseconds since 1970 by the observer's clock. */
export type Seen = Entry & { readonly at: number };

export interface Journal {
  note(entry: Entry): void;
  read(): readonly Seen[];
}

/** Each entry is in the file when `note` returns. */
export function openJournal(file: string): Journal {
  appendFileSync(file, '');
  return {
    note: (entry) => appendFileSync(file, `${JSON.stringify({ at: Date.now(), ...entry })}\n`),
    read: () =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Seen),
  };
}
