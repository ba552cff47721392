/** Stores the exception reported by each active run until the run finishes. */
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import type { Exception, Frame, RaisedError, RelatedException } from '#domain/run/error/error.ts';
import { parseFormatted, placeOfFile, type CodePlaces } from '#domain/run/error/traceback.ts';

/** An exception whose frames contain paths inside the sandbox. */
interface ReportedException extends Omit<Exception, 'frames'> {
  readonly frames: readonly Omit<Frame, 'own'>[];
}

export interface ReportedError extends ReportedException {
  readonly causes: readonly (ReportedException &
    Pick<RelatedException, 'relation' | 'depth' | 'omitted'>)[];
  /** The exit code passed to `sys.exit`, or `undefined` for other exceptions. */
  readonly exitCode: number | undefined;
}

export class ReportedErrors {
  /** A lost run never reports its outcome, so its error is garbage-collected together with the run. */
  readonly #byRun = new WeakMap<ClaimedRun, ReportedError>();

  /** Records an exception, which replaces an earlier one. A `sys.exit` does not replace a reported exception. */
  add(run: ClaimedRun, error: ReportedError): void {
    const before = this.#byRun.get(run);
    const isExitAfterError = error.exitCode !== undefined && before?.exitCode === undefined;
    if (before === undefined || !isExitAfterError) this.#byRun.set(run, error);
  }

  /** Returns the run's reported error.
   *  @param exitCode the exit code of the process, or null after a signal */
  find(run: ClaimedRun, exitCode: number | null): ReportedError | undefined {
    const error = this.#byRun.get(run);
    // The script caught this `sys.exit` and exited in another way.
    if (error?.exitCode !== undefined && error.exitCode !== exitCode) return undefined;
    return error;
  }
}

/** Returns the exception with frames that are located in the script and its packages. */
export function locatedError(error: ReportedError, places: CodePlaces): RaisedError {
  const located = ({ type, message, frames }: ReportedException): Exception => ({
    type,
    message,
    frames: frames.map((frame) => ({ ...frame, ...placeOfFile(frame.file, places) })),
  });
  return {
    ...located(error),
    causes: error.causes.flatMap((cause, index) => {
      const raised = error.causes[index - 1] ?? error;
      const remote = exceptionOfProcess(cause, raised, places);
      const { causes, ...one } = remote ?? { ...located(cause), causes: [] };
      const { relation, depth = 1, omitted } = cause;
      const deeper = causes.map((each) => ({ ...each, depth: depth + (each.depth ?? 1) }));
      return [{ ...one, relation, depth, omitted }, ...deeper];
    }),
  };
}

/** Recognizes an exception from another process. Process pools attach such an exception as a cause whose message is the
 *  traceback.
 *  @param raised the exception with this cause, a copy of the exception in the other process */
function exceptionOfProcess(
  { type, message }: ReportedException,
  raised: ReportedException,
  places: CodePlaces,
): RaisedError | undefined {
  if (!/(?:^|\.)_?RemoteTraceback$/.test(type)) return undefined;
  return parseFormatted(message.replace(/(?:"""|''')\s*$/, ''), places, raised.message);
}
