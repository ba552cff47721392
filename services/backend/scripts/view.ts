/** Formats scripts for API responses. */
import { defaultLimits } from '#domain/script/settings.ts';
import type { ScriptView } from '#projections/scripts/queries.ts';

export function scriptJson(script: ScriptView) {
  return {
    id: script.script_id,
    name: script.name,
    description: script.description,
    group_id: script.group_id,
    group: script.group,
    enabled: script.enabled,
    max_concurrent_runs: script.max_concurrent_runs,
    storage_quota_bytes: script.storage_quota_bytes,
    storage_used_bytes: script.storage_used_bytes,
    entrypoint: script.entrypoint,
    // If a script was created before a limit existed, the limit's default applies.
    limits: { ...defaultLimits, ...script.limits },
    tags: script.tags,
    retry: script.retry,
    keep_alive: script.keep_alive,
    environment: script.environment,
    python: script.python,
    start_mode: script.start_mode,
    resident: script.resident,
    merge_stderr: script.merge_stderr,
    listen_ports: script.listen_ports,
    runs_on: script.runs_on,
    pools: script.pools,
    protected: script.protected,
    expectations: script.expectations,
    parameters_schema: script.parameters_schema,
    source: sourceJson(script),
    version: script.version,
    created_at: script.created_at,
    created_by: script.created_by,
    updated_at: script.updated_at,
    updated_by: script.updated_by,
    last_run: script.last_run,
  };
}

function sourceJson({ source }: ScriptView) {
  if (source === null) return null;
  const { repositoryId: repository_id, path, commit, url, writeBack } = source;
  return { repository_id, path, commit, url, editable: writeBack !== undefined };
}

/** Formats a script for lists. If the script is deleted, the deletion was its last change. */
export function listedJson(script: ScriptView) {
  const { deleted, updated_at: deleted_at, updated_by: deleted_by } = script;
  return { ...scriptJson(script), ...(deleted && { deleted_at, deleted_by }) };
}
