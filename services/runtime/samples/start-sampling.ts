/** Starts recording samples. */
import { PostgresRunSamples } from '#infra/postgres/logs/run-samples.ts';
import type { Logger } from '#services/shared/logger.ts';
import { startLoop } from '#services/shared/loop.ts';
import type { Platform } from '#services/shared/platform.ts';
import { SampleRecorder } from './sample-recorder.ts';

const saveMs = 1_000;

/** Stores samples once a second, and immediately after a run has finished. */
export function startSampling({ database, clock, bus }: Platform, logger: Logger) {
  const recorder: SampleRecorder = new SampleRecorder({
    store: new PostgresRunSamples(database.pool),
    clock,
    publish: (runId, point) => bus.publish({ topic: 'sample', runId, point }),
    onEnd: () => saving.wake(),
  });
  const saving = startLoop({
    name: 'save samples',
    everyMs: saveMs,
    runOnce: () => recorder.saveOnce(),
    logger,
  });
  const stop = async () => {
    await saving.stop();
    await recorder.saveOnce().catch((error: unknown) => {
      logger.warn({ error }, 'last samples were lost');
    });
  };
  return { recorder, stop };
}
