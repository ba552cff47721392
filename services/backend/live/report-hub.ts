/** Sends reports of followed runs, such as their progress, to the sockets of each run. The bus is a hint:
 *  polling every second is the guarantee. */
import { setTimeout as pause } from 'node:timers/promises';
import { readReports } from '#infra/postgres/logs/run-reports.ts';
import { findRuns } from '#projections/runs/queries.ts';
import { startLoop, type Loop } from '#services/shared/loop.ts';
import { progressJson } from '../runs/progress.ts';
import type { Services } from '../services.ts';

const everyMs = 1000;
/** Limits the frames of a script that reports in a loop. */
const gatherMs = 200;

export interface ReportHubOptions {
  readonly services: Services;
  /** The runs that sockets follow. */
  readonly runIds: () => readonly string[];
  readonly send: (runId: string, frame: Buffer) => void;
}

export class ReportHub {
  readonly #options: ReportHubOptions;
  /** The last progress sent for each run, as JSON. */
  readonly #progress = new Map<string, string>();
  readonly #unsubscribe: () => void;
  readonly #loop: Loop;

  constructor(options: ReportHubOptions) {
    this.#options = options;
    const { bus, logger } = options.services;
    this.#unsubscribe = bus.subscribe('progress', ({ runId }) => {
      if (options.runIds().includes(runId)) this.#loop.wake();
    });
    this.#loop = startLoop({
      name: 'send reports of followed runs',
      everyMs,
      runOnce: async (signal) => {
        if (await this.#send()) await pause(gatherMs, undefined, { signal });
      },
      logger,
    });
  }

  /** Safe twice. */
  async close(): Promise<void> {
    this.#unsubscribe();
    await this.#loop.stop();
  }

  /** @returns whether a frame was sent */
  async #send(): Promise<boolean> {
    const { services, runIds: followed, send } = this.#options;
    const runIds = followed();
    for (const known of this.#progress.keys()) {
      if (!runIds.includes(known)) this.#progress.delete(known);
    }
    if (runIds.length === 0) return false;
    const [rows, reports] = await Promise.all([
      findRuns(services.readModels, runIds),
      readReports(services.database, runIds),
    ]);
    let hasSent = false;
    for (const row of rows) {
      // The last status frame of a run has its progress too.
      if (row.finished_at !== null) continue;
      const progress = JSON.stringify(progressJson(row, reports.get(row.run_id)?.progress));
      if ((this.#progress.get(row.run_id) ?? 'null') === progress) continue;
      this.#progress.set(row.run_id, progress);
      send(row.run_id, Buffer.from(`{"type":"progress","progress":${progress}}`));
      hasSent = true;
    }
    return hasSent;
  }
}
