/** Formats chains and their occurrences for API responses. */
import type { ChainView } from '#projections/chains/queries.ts';
import type { ChainAnswersTable } from '#projections/chains/table.ts';

export function chainJson(chain: ChainView, params: unknown) {
  return {
    id: chain.chain_id,
    source_script_id: chain.source_script_id,
    source_script_name: chain.source_script_name,
    target_script_id: chain.target_script_id,
    target_script_name: chain.target_script_name,
    on: chain.condition,
    enabled: chain.enabled,
    when_busy: chain.when_busy,
    params: params ?? null,
    created_at: chain.created_at,
    created_by: chain.created_by,
    updated_at: chain.updated_at,
    updated_by: chain.updated_by,
  };
}

/** The wire format of a chain's occurrence: the run that the chain started, or the reason why no run started. */
export function occurrenceJson({ source_run_id, time, run_id, reason }: ChainAnswersTable) {
  const outcome = run_id === null ? 'skipped' : 'fired';
  return { source_run_id, time, outcome, reason, run_id };
}
