/**
 * Runs the backend and the scheduler in one process. Most of a process's memory is used by modules, and a single
 * process loads shared modules only once. If either service fails, the supervisor restarts both.
 */
import { backendOptions, startBackend } from '#services/backend/start.ts';
import { startScheduler } from '#services/scheduler/start.ts';
import { readConfig } from '#services/shared/config.ts';
import { runProcess } from '#services/shared/lifecycle.ts';
import { createLogger } from '#services/shared/logger.ts';

void runProcess(
  'backend',
  async (signal, logger) => {
    const { logLevel } = readConfig(['logLevel']);
    const running = await Promise.all([
      startBackend(signal, logger),
      startScheduler(signal, createLogger('scheduler', logLevel)),
    ]);
    return {
      stop: async () => void (await Promise.all(running.map((part) => part.stop()))),
    };
  },
  backendOptions,
);
