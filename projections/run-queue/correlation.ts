/** Returns an SQL expression for the correlation ID of the request that created a run. Events from later commands
 *  for the run have the same ID. Runs that they cause therefore belong to the same trace.
 *  @param runId the column with the run ID, such as `q.run_id` */
export function correlationIdOf(runId: string): string {
  return `(SELECT metadata ->> 'correlationId' FROM events
    WHERE stream_id = 'run-' || ${runId} AND version = 1)`;
}
