/** Looks up the scripts that audit entries are about. */
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';

export interface EffectScript {
  readonly resource: string;
  readonly script_id: string;
  readonly name: string;
  readonly group_id: string;
}

const scripts = statement<EffectScript>(`
  WITH asked (kind, id) AS (
    SELECT kind, CASE WHEN kind IN ('run', 'notice', 'chain') THEN substring(resource FROM '-(.*)')::uuid END
    FROM unnest($1::text[]) AS given (resource), split_part(resource, '-', 1) AS kind
  ), found AS (
    SELECT kind, id, script_id FROM asked JOIN runs ON kind = 'run' AND run_id = id
    UNION ALL
    SELECT kind, id, script_id FROM asked JOIN notices ON kind = 'notice' AND notice_id = id
    UNION ALL
    SELECT kind, id, target_script_id FROM asked JOIN chains ON kind = 'chain' AND chain_id = id
  )
  SELECT kind || '-' || id AS resource, script_id, name, group_id
  FROM found JOIN scripts USING (script_id)`);

/** Returns the script of each run and notice, and the target script of each chain, by resource.
 *  @param resources stream IDs */
export async function scriptsOfResources(
  db: ReadModels,
  resources: readonly string[],
): Promise<ReadonlyMap<string, EffectScript>> {
  return new Map((await scripts(db, resources)).map((row) => [row.resource, row]));
}
