/** The SQL expression for the correlation ID of the request for a run. Events that later commands record for the run
 *  have the same ID, so that the runs that they cause belong to the same trace.
 *  @param runId a column, such as `q.run_id` */
export function correlationIdOf(runId: string): string {
  return `(SELECT metadata ->> 'correlationId' FROM events
    WHERE stream_id = 'run-' || ${runId} AND version = 1)`;
}
