/** Ends active runs whose runtime is lost. */
import { mustParse, parseCommandId } from '#domain/kernel/ids.ts';
import { systemContext, type Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { RunQueue } from '#domain/ports/run-queue.ts';
import { platformError } from '#domain/run/error/error.ts';
import { noTotals } from '#domain/run/run.ts';
import type { Logger } from '#services/shared/logger.ts';
import { keptError } from '#services/shared/run-errors.ts';
import { oneByOne } from './one-by-one.ts';

const batchSize = 100;

export interface LostRunsDeps {
  readonly queue: RunQueue;
  readonly commands: Commands;
  readonly ids: Ids;
  readonly logger: Logger;
}

/** Runs one round. @returns whether there may be more lost runs */
export async function endLostRuns(deps: LostRunsDeps): Promise<boolean> {
  const lost = await deps.queue.lost(batchSize);
  await oneByOne(lost, async (run) => {
    const { runId, scriptId, correlationId, scriptName, fence, logLines, logBytes } = run;
    deps.logger.warn({ runId, script_name: scriptName }, 'run lost with its runtime');
    const commandId = mustParse(parseCommandId, deps.ids.derived(runId, `lost ${fence}`));
    const { fact: error, content } = keptError(platformError('runtime_lost'), scriptId);
    await deps.commands.execute(
      {
        type: 'FinishRun',
        runId,
        fence,
        outcome: 'runtime_lost',
        exitCode: null,
        signal: null,
        totals: { ...noTotals, logLines, logBytes },
        error,
      },
      systemContext('scheduler', commandId, correlationId),
      content,
    );
  });
  return lost.length === batchSize;
}
