/** Runs the event store in a separate program, which tests can kill before an event is recorded. */
import { before } from './kill-steps.ts';
import type { Command } from '#domain/aggregates.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { Commands } from '#domain/ports/commands.ts';
import { CommandPipeline } from '#infra/postgres/commands/command-pipeline.ts';
import { openDatabase, queryBuilder } from '#infra/postgres/database.ts';
import { systemIds } from '#infra/system/ids.ts';
import type { ReadModels } from '#projections/projection.ts';
import { inlineProjections } from '#projections/registry.ts';
import type { Tables } from '#projections/tables.ts';
import { decisionReads } from '#projections/decision-reads.ts';
import type pg from 'pg';

export interface KillablePlatform {
  readonly pool: pg.Pool;
  readonly reads: ReadModels;
  readonly commands: Commands;
  close(): Promise<void>;
}

export function openKillablePlatform(serviceUrl: string, clock: Clock): KillablePlatform {
  const { pool, close } = openDatabase(serviceUrl, {
    connections: 5,
    applicationName: 'child',
    onIdleError: () => undefined,
  });
  const commands = new CommandPipeline({
    pool,
    clock,
    ids: systemIds,
    projections: inlineProjections,
    decisionReads,
    announce: () => undefined,
  });
  return {
    pool,
    reads: queryBuilder<Tables>(pool),
    commands: {
      execute: async (command, context) => {
        before(`recording ${nameOf(command)}`);
        return await commands.execute(command, context);
      },
      executeAll: (all) => commands.executeAll(all),
      check: (all) => commands.check(all),
    },
    close,
  };
}

function nameOf(command: Command): string {
  return command.type === 'FinishUpdateStep' ? `the end of ${command.step}` : command.type;
}
