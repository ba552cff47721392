/** Returns a subquery for the correlation ID of the request that created a run.
 *  @param runId SQL expression for the run ID */
export function correlationIdOf(runId: string): string {
  return `(SELECT metadata ->> 'correlationId' FROM events
    WHERE stream_id = 'run-' || ${runId} AND version = 1)`;
}
