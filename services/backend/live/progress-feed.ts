/** Sends run progress to the sockets at `/ws`, at most one frame per run and second. */
import { readReports } from '#infra/postgres/logs/run-reports.ts';
import { findRuns } from '#projections/runs/queries.ts';
import { startLoop, type Loop } from '#services/shared/loop.ts';
import { progressJson } from '../runs/view.ts';
import type { Services } from '../services.ts';
import { inGroup, type FeedFrame } from './feed-frames.ts';
import type { FeedSubscriber } from './feed-subscriber.ts';
import { ownersOf } from './find-owners.ts';

const everyMs = 1000;
const maxPending = 1000;
const runsAtOnce = 100;

export class ProgressFeed {
  readonly #services: Services;
  readonly #subscribers: ReadonlySet<FeedSubscriber>;
  readonly #pending = new Set<string>();
  readonly #unsubscribe: () => void;
  readonly #loop: Loop;

  constructor(services: Services, subscribers: ReadonlySet<FeedSubscriber>) {
    this.#services = services;
    this.#subscribers = subscribers;
    this.#unsubscribe = services.bus.subscribe('progress', ({ runId }) => {
      // Frames may be dropped. The next frame replaces a missed frame, and a page loads the progress of its runs when
      // it opens.
      if (subscribers.size > 0 && this.#pending.size < maxPending) this.#pending.add(runId);
    });
    this.#loop = startLoop({
      name: 'send progress of runs',
      everyMs,
      runOnce: () => this.#send(),
      logger: services.logger,
    });
  }

  /** Stops the feed. Idempotent. */
  async close(): Promise<void> {
    this.#unsubscribe();
    await this.#loop.stop();
  }

  async #send(): Promise<void> {
    const runIds = [...this.#pending].slice(0, runsAtOnce);
    for (const runId of runIds) this.#pending.delete(runId);
    if (runIds.length === 0) return;
    const frames = await this.#framesOf(runIds);
    const subscribers = [...this.#subscribers];
    // The owners are read last, so that users who have lost access receive no frame.
    const ownerOf = await ownersOf(subscribers, this.#services);
    for (const one of subscribers) {
      const owner = ownerOf(one.credential);
      if (owner !== undefined && owner.mustSetUpFactor !== true) {
        one.deliverPassing(owner.principal, frames);
      }
    }
  }

  async #framesOf(runIds: readonly string[]): Promise<readonly FeedFrame[]> {
    const { readModels, database } = this.#services;
    const [rows, reports] = await Promise.all([
      findRuns(readModels, runIds),
      readReports(database, runIds),
    ]);
    return rows
      .filter((row) => row.finished_at === null)
      .map((row) => {
        const progress = progressJson(row, reports.get(row.run_id)?.progress);
        return inGroup(row.group_id, { type: 'progress', run_id: row.run_id, progress });
      });
  }
}
