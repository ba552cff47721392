/** The correlation ID of the request for a run, as a subquery. @param runId SQL of the run's ID */
export function correlationIdOf(runId: string): string {
  return `(SELECT metadata ->> 'correlationId' FROM events
    WHERE stream_id = 'run-' || ${runId} AND version = 1)`;
}
