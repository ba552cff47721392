/** A file that records observations from outside the platform: responses to clients, and actions of scripts. */
import { appendFileSync, readFileSync } from 'node:fs';

export type Entry =
  /** The platform accepted a run. */
  | { readonly what: 'accepted'; readonly run: string; readonly script: string }
  /** The platform accepted a version of a file. */
  | { readonly what: 'saved'; readonly script: string; readonly content: string }
  /** A run's process reported its state. `process` distinguishes two processes of the same run. */
  | {
      readonly what: 'started' | 'alive' | 'ended';
      readonly run: string;
      readonly script: string;
      readonly process: string;
    }
  /** A fault was applied, or the platform responded again after a fault. */
  | { readonly what: 'fault' | 'recovered'; readonly fault: string }
  /** The saved state `point`, such as a backup, contains all data acknowledged so far. */
  | { readonly what: 'marked'; readonly point: string }
  /** A restore or rollback to the saved state `point` was requested or has completed. Newer data may be lost. */
  | { readonly what: 'returning' | 'returned'; readonly point: string }
  /** All clocks were advanced by days while the platform was off. Queued runs then expire, because they may wait for
   *  at most one day. */
  | { readonly what: 'days passed' }
  /** An operation began. */
  | { readonly what: 'begun'; readonly operation: string; readonly id: string }
  /** Processes were killed while the platform reported this step of the operation. */
  | {
      readonly what: 'struck';
      readonly operation: string;
      readonly id: string;
      readonly step: string;
    }
  /** The operation has finished. Outcomes that are not in `expected` are violations. */
  | {
      readonly what: 'concluded';
      readonly operation: string;
      readonly id: string;
      readonly outcome: string;
      readonly expected: readonly string[];
    }
  /** The final state of a run according to the platform. */
  | {
      readonly what: 'final';
      readonly run: string;
      readonly script: string;
      readonly status: string;
      readonly reason: string | null;
      /** The ID of the retried run, if this run is a retry. */
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
  /** The final state of a file according to the platform. */
  | { readonly what: 'kept'; readonly script: string; readonly content: string };

/** An entry with its time by the observer's clock, in milliseconds since 1970. */
export type Seen = Entry & { readonly at: number };

export interface Journal {
  note(entry: Entry): void;
  read(): readonly Seen[];
}

/** An entry has been written to the file when `note` returns. */
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
