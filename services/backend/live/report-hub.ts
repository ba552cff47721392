/** Sends run progress and spans to the sockets that follow the runs. Bus messages only reduce the delay; polling
 *  every second guarantees delivery. */
import { setTimeout as pause } from 'node:timers/promises';
import { readReports } from '#infra/postgres/logs/run-reports.ts';
import { readSpans } from '#infra/postgres/logs/run-spans.ts';
import { findRuns } from '#projections/runs/queries.ts';
import { startLoop, type Loop } from '#services/shared/loop.ts';
import { progressJson } from '../runs/view.ts';
import type { Services } from '../services.ts';
import { scriptSpanJson } from '../spans/view.ts';

const everyMs = 1000;
/** Limits the frame rate of scripts that report progress in a loop. */
const gatherMs = 200;

export interface ReportHubOptions {
  readonly services: Services;
  /** The IDs of the followed runs. */
  readonly runIds: () => readonly string[];
  readonly send: (runId: string, frame: Buffer) => void;
}

export class ReportHub {
  readonly #options: ReportHubOptions;
  /** The progress that was last sent for each run, as JSON. */
  readonly #progress = new Map<string, string>();
  /** The revision of the last span read for each run. */
  readonly #revisions = new Map<string, number>();
  readonly #unsubscribe: readonly (() => void)[];
  readonly #loop: Loop;

  constructor(options: ReportHubOptions) {
    this.#options = options;
    const { bus, logger } = options.services;
    const wake = ({ runId }: { readonly runId: string }) => {
      if (options.runIds().includes(runId)) this.#loop.wake();
    };
    this.#unsubscribe = [bus.subscribe('progress', wake), bus.subscribe('spans', wake)];
    this.#loop = startLoop({
      name: 'send reports of followed runs',
      everyMs,
      runOnce: async (signal) => {
        if (await this.#send()) await pause(gatherMs, undefined, { signal });
      },
      logger,
    });
  }

  /** Stops the hub. Idempotent. */
  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    await this.#loop.stop();
  }

  /** @returns whether a frame was sent */
  async #send(): Promise<boolean> {
    const runIds = this.#options.runIds();
    for (const known of [this.#progress, this.#revisions]) {
      for (const runId of known.keys()) if (!runIds.includes(runId)) known.delete(runId);
    }
    if (runIds.length === 0) return false;
    const sent = await Promise.all([this.#sendProgress(runIds), this.#sendSpans(runIds)]);
    return sent.includes(true);
  }

  async #sendProgress(runIds: readonly string[]): Promise<boolean> {
    const { services, send } = this.#options;
    const [rows, reports] = await Promise.all([
      findRuns(services.readModels, runIds),
      readReports(services.database, runIds),
    ]);
    let hasSent = false;
    for (const row of rows) {
      // Skips finished runs, because the last status frame of a run contains the final progress.
      if (row.finished_at !== null) continue;
      const progress = JSON.stringify(progressJson(row, reports.get(row.run_id)?.progress));
      if ((this.#progress.get(row.run_id) ?? 'null') === progress) continue;
      this.#progress.set(row.run_id, progress);
      send(row.run_id, Buffer.from(`{"type":"progress","progress":${progress}}`));
      hasSent = true;
    }
    return hasSent;
  }

  async #sendSpans(runIds: readonly string[]): Promise<boolean> {
    const { services, send } = this.#options;
    const spans = await readSpans(
      services.database,
      runIds,
      runIds.map((runId) => this.#revisions.get(runId) ?? 0),
    );
    for (const span of spans) {
      const { runId, revision } = span;
      this.#revisions.set(runId, Math.max(revision, this.#revisions.get(runId) ?? 0));
      send(runId, Buffer.from(JSON.stringify({ type: 'span', span: scriptSpanJson(span, false) })));
    }
    return spans.length > 0;
  }
}
