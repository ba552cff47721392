// Declares suites that require a real server or program. If this machine lacks it, the suite is skipped and its name
// contains the reason. `make test` prints the reasons at the end.
import { describe } from 'vitest';

/** A server or program that a suite requires. */
export interface OptionalService {
  /** The display name, such as `Chromium`. Must not contain a colon. */
  readonly service: string;
  /** The address or path of the service. `undefined` if this machine does not have the service. */
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

/** Declares a suite that runs only if its service was found. The body is always called, so that its tests can be
 *  counted as skipped. Read the service's address only inside tests and hooks. */
export function describeWith(optional: OptionalService, name: string, body: () => void): void {
  const absent = optional.found === undefined;
  describe.skipIf(absent)(absent ? skippedName(optional, name) : name, body);
}

/** Returns the name of a suite whose service is missing. */
export function skippedName(optional: OptionalService, name: string): string {
  return `${name}${MARK}${optional.service}: ${optional.reason}`;
}

/** Parses a name created by {@link skippedName}. Returns `undefined` for other names. */
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
