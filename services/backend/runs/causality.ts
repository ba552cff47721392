/** Traces a run back through its triggers, and forward to its effects. */
import type { Recorded } from '#domain/aggregates.ts';
import { mustParse, parseRunId, type RunId } from '#domain/kernel/ids.ts';
import type { RunQueued } from '#domain/run/events.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { readVersions } from '#infra/postgres/event-store/streams-at.ts';
import { causedBy } from '#projections/audit/queries.ts';
import type { AuditTable } from '#projections/audit/table.ts';
import type { ReadModels } from '#projections/projection.ts';
import { scriptsOfResources, type EffectScript } from '#projections/runs/effect-scripts.ts';

/** Maximum depth in both directions, and maximum number of effects. */
const maxDepth = 50;
const maxEffects = 500;

export type Queued = Recorded<RunQueued>;

/** The run and its ancestors, each with its trigger, nearest first. */
export async function causesOf(db: Queryable, runId: RunId): Promise<readonly Queued[]> {
  const causes: Queued[] = [];
  let next: RunId | undefined = runId;
  while (next !== undefined && causes.length < maxDepth) {
    const queued: Queued | undefined = await queuedEvent(db, next);
    if (queued === undefined) break;
    causes.push(queued);
    const { trigger } = queued.data;
    next = 'runId' in trigger ? trigger.runId : undefined;
  }
  return causes;
}

async function queuedEvent(db: Queryable, runId: RunId): Promise<Queued | undefined> {
  const events = await readVersions(db, `run-${runId}`, [1]);
  return events.get(1) as Queued | undefined;
}

export interface Effect {
  readonly entry: AuditTable;
  /** The number of causal steps between the run and this effect, starting at 1. */
  readonly depth: number;
  readonly script: EffectScript | undefined;
}

/** The direct and indirect effects of a run, nearest first. Omits the use of secrets, because users who see runs may
 *  not see secrets. */
export async function effectsOf(db: ReadModels, runId: RunId): Promise<readonly Effect[]> {
  const effects: Omit<Effect, 'script'>[] = [];
  const seen = new Set<string>([runId]);
  let causes: readonly string[] = [`run-${runId}`];
  for (let depth = 1; causes.length > 0 && depth <= maxDepth; depth += 1) {
    const entries = await causedBy(db, causes, maxEffects - effects.length);
    const shown = entries.filter((entry) => entry.action !== 'secrets_read');
    effects.push(...shown.map((entry) => ({ entry, depth })));
    if (effects.length >= maxEffects) break;
    const runs = shown.flatMap((entry) => runIn(entry) ?? []).filter((id) => !seen.has(id));
    for (const id of runs) seen.add(id);
    causes = runs.map((id) => `run-${id}`);
  }
  const scripts = await scriptsOfResources(
    db,
    effects.map(({ entry }) => entry.resource),
  );
  return effects.map((effect) => ({ ...effect, script: scripts.get(effect.entry.resource) }));
}

function runIn({ action, resource }: AuditTable): RunId | undefined {
  return action === 'run_queued' ? mustParse(parseRunId, resource.slice('run-'.length)) : undefined;
}
