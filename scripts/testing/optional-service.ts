// A suite that needs a real server or program says so here. When the machine lacks it, the suite is
// skipped and its name carries the reason, which `make test` prints at its end.
import { describe } from 'vitest';

/** A server or program that a suite needs. */
export interface OptionalService {
  /** Name as a person reads it, such as `Chromium`. Must not contain a colon. */
  readonly service: string;
  /** Where it is: an address or a path. `undefined` when this machine has none. */
  readonly found: string | undefined;
  /** Why it could not be had. Read only when `found` is `undefined`. */
  readonly reason: string;
}

/** What {@link parseSkippedName} reads back from the name of a skipped suite. */
export interface SkippedSuite {
  readonly suite: string;
  readonly service: string;
  readonly reason: string;
}

const MARK = ' — skipped without ';

/** Declares a suite that runs only where its service was found.
 *  The body is called in either case, because its tests must be counted as skipped: read the
 *  address inside tests and hooks, never while the suite is being declared. */
export function describeWith(optional: OptionalService, name: string, body: () => void): void {
  const absent = optional.found === undefined;
  describe.skipIf(absent)(absent ? skippedName(optional, name) : name, body);
}

/** The name of a suite that could not get its service. */
export function skippedName(optional: OptionalService, name: string): string {
  return `${name}${MARK}${optional.service}: ${optional.reason}`;
}

/** Parses a name made by {@link skippedName}; `undefined` for any other name. */
export function parseSkippedName(name: string): SkippedSuite | undefined {
  const mark = name.indexOf(MARK);
  const colon = name.indexOf(': ', mark);
  if (mark < 0 || colon < 0) return undefined;
  return {
    suite: name.slice(0, mark),
    service: name.slice(mark + MARK.length, colon),
    reason: name.slice(colon + 2),
  };
}
