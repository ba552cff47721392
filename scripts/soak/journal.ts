/** A file with observations from outside the platform: responses to clients, and actions of scripts. */
import { appendFileSync, readFileSync } from 'node:fs';

export type Entry =
  /** The platform accepted a run. `script` is queued one by one where `isAlone`. */
  | { readonly what: 'accepted'; readonly run: string; readonly script: string }
  /** The platform accepted a version of a file. */
  | { readonly what: 'saved'; readonly script: string; readonly content: string }
  /** A process of a run says so itself. `process` tells two of the same run apart. */
  | {
      readonly what: 'started' | 'alive' | 'ended';
      readonly run: string;
      readonly script: string;
      readonly process: string;
    }
  /** Something was done to the platform, and when it answered again. */
  | { readonly what: 'fault' | 'recovered'; readonly fault: string }
  /** Everything that was acknowledged so far is part of the state `point`, such as a backup. */
  | { readonly what: 'marked'; readonly point: string }
  /** The platform was asked to return to that state; then it has. Later work is legitimately lost. */
  | { readonly what: 'returning' | 'returned'; readonly point: string }
  /** All clocks moved ahead by days while the platform was off. Runs that were queued for a day expire. */
  | { readonly what: 'days passed' }
  /** An operation began. */
  | { readonly what: 'begun'; readonly operation: string; readonly id: string }
  /** Processes were killed while the platform reported that step of the operation. */
  | {
      readonly what: 'struck';
      readonly operation: string;
      readonly id: string;
      readonly step: string;
    }
  /** The operation ended. Any outcome but those of `expected` is wrong. */
  | {
      readonly what: 'concluded';
      readonly operation: string;
      readonly id: string;
      readonly outcome: string;
      readonly expected: readonly string[];
    }
  /** What the platform says of a run in the end. */
  | {
      readonly what: 'final';
      readonly run: string;
      readonly script: string;
      readonly status: string;
      readonly reason: string | null;
      /** The run that it tries again. */
      readonly retryOf: string | null;
    }
  /** A backend failed to answer a request while another one was being replaced. */
  | {
      readonly what: 'refused';
      readonly backend: string;
      readonly request: string;
      /** Null: the connection failed. */
      readonly status: number | null;
    }
  /** What the platform has of a file in the end. */
  | { readonly what: 'kept'; readonly script: string; readonly content: string };

/** An entry with its time, in milliseconds since 1970 by the clock of the witness. */
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
