import type { CommandId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';

/** The command context of a call, which the runtime executes as part of the run's causality. */
export function contextOf(run: ClaimedRun, commandId: CommandId): CommandContext {
  return {
    commandId,
    actor: { kind: 'system', name: 'runtime' },
    ip: null,
    correlationId: run.correlationId,
    causationId: null,
  };
}
