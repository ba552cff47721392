// Declares suites that need a real server or program. If the machine lacks it, the suite is skipped and its name
// contains the reason, which `make test` prints at its end.
import { describe } from 'vitest';

/** A server or program that a suite needs. */
export interface OptionalService {
  /** Display name, such as `Chromium`. Must not contain a colon. */
  readonly service: string;
  /** An address or a path. `undefined` if this machine has none. */
  readonly found: string | undefined;
  /** The reason why the service is missing. Read only if `found` is `undefined`. */
  readonly reason: string;
}

/** The result of {@link parseSkippedName}. */
export interface SkippedSuite {
  readonly suite: string;
  readonly service: string;
  readonly reason: string;
}

const MARK = ' — skipped without ';

/** Declares a suite that runs only if its service was found. The body is called in either case, because its tests must
 *  be counted as skipped. Therefore, read the service's address only inside tests and hooks. */
export function describeWith(optional: OptionalService, name: string, body: () => void): void {
  const absent = optional.found === undefined;
  describe.skipIf(absent)(absent ? skippedName(optional, name) : name, body);
}

/** The name of a suite whose service is missing. */
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
