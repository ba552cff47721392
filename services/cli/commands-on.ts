import { CommandPipeline } from '#infra/postgres/commands/command-pipeline.ts';
import { systemClock } from '#infra/system/clock.ts';
import { systemIds } from '#infra/system/ids.ts';
import { decisionReads } from '#projections/decision-reads.ts';
import { inlineProjections } from '#projections/registry.ts';
import type pg from 'pg';

/** Executes commands without a bus. Other processes poll, and so process the events within seconds. */
export function commandsOn(pool: pg.Pool): CommandPipeline {
  return new CommandPipeline({
    pool,
    clock: systemClock,
    ids: systemIds,
    projections: inlineProjections,
    decisionReads,
    announce: () => undefined,
  });
}
