/** Finds the exception in the log of a run that a queue client executed. */
import { posix } from 'node:path';
import type { RunId } from '#domain/kernel/ids.ts';
import { boundedError, type RunError } from '#domain/run/error/error.ts';
import { parseTraceback } from '#domain/run/error/traceback.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { PostgresRunLogs } from '#infra/postgres/logs/run-logs.ts';

const maxLines = 500;

/** Finds the last traceback near the end of the log, on stderr or otherwise on stdout. The client's folder is unknown,
 *  so all code below the folder of the outermost frame counts as the script's own.
 *  @returns `undefined` if there is no traceback */
export async function loggedError(db: Queryable, runId: RunId): Promise<RunError | undefined> {
  const query = { fromSeq: 1, limit: maxLines, fromEnd: true };
  const { items } = await new PostgresRunLogs(db).read(runId, query);
  for (const stream of ['stderr', 'stdout'] as const) {
    const lines = items.filter((item) => item.stream === stream).map(({ text }) => text);
    const text = lines.join('\n');
    const main = parseTraceback(text, { root: '/-' })?.frames[0]?.file;
    const error = parseTraceback(text, { root: posix.dirname(main ?? '/-/-') });
    if (error !== undefined) return boundedError<RunError>({ ...error, source: 'log' });
  }
  return undefined;
}
