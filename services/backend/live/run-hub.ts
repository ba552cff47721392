/** Sends run changes to subscribers. Each frame is created once for all subscribers. Bus messages only reduce the
 *  delay; polling every second guarantees delivery. */
import { mustParse, parseRunId } from '#domain/kernel/ids.ts';
import { findRuns } from '#projections/runs/queries.ts';
import type { RunsTable } from '#projections/runs/table.ts';
import { startLoop, type Loop } from '#services/shared/loop.ts';
import { runsJson, sampleJson } from '../runs/view.ts';
import type { Services } from '../services.ts';
import { logFrame } from './log-frames.ts';
import { ReportHub } from './report-hub.ts';
import type { RunSubscriber } from './run-subscriber.ts';

const pollEveryMs = 1000;

interface Watched {
  readonly subscribers: Set<RunSubscriber>;
  /** The most recently sent state. */
  latest?: Shown;
}

interface Shown {
  /** The version of the run's stream. */
  readonly version: number;
  readonly status: string;
  readonly isFinished: boolean;
  readonly frame: Buffer;
}

export class RunHub {
  readonly #services: Services;
  readonly #watched = new Map<string, Watched>();
  readonly #changed = new Set<string>();
  readonly #unsubscribe: readonly (() => void)[];
  readonly #statuses: Loop;
  readonly #poll: Loop;
  readonly #reports: ReportHub;

  constructor(services: Services) {
    this.#services = services;
    const { bus, logger } = services;
    this.#unsubscribe = [
      bus.subscribe('log', ({ runId, firstSeq, lastSeq, items }) => {
        const watched = this.#watched.get(runId);
        if (watched === undefined) return;
        const frame = items === undefined ? undefined : logFrame(items);
        for (const one of watched.subscribers) one.offer({ firstSeq, lastSeq, frame });
      }),
      bus.subscribe('sample', ({ runId, point }) => {
        const watched = this.#watched.get(runId);
        if (watched === undefined) return;
        const frame = Buffer.from(JSON.stringify({ type: 'sample', ...sampleJson(point) }));
        for (const one of watched.subscribers) one.showInPassing(frame);
      }),
      bus.subscribe('status', ({ runId }) => {
        if (!this.#watched.has(runId)) return;
        this.#changed.add(runId);
        this.#statuses.wake();
      }),
    ];
    this.#reports = new ReportHub({
      services,
      runIds: () => [...this.#watched.keys()],
      send: (runId, frame) => {
        for (const one of this.#watched.get(runId)?.subscribers ?? []) one.showInPassing(frame);
      },
    });
    this.#statuses = startLoop({
      name: 'send run statuses',
      everyMs: pollEveryMs,
      runOnce: () => this.#showStatuses([...this.#changed]),
      logger,
    });
    this.#poll = startLoop({
      name: 'check followed runs',
      everyMs: pollEveryMs,
      runOnce: () => this.#look(),
      logger,
    });
  }

  /** Adds a subscriber of a run. The subscriber reads existing lines itself, and is notified of new lines.
   *  @param run the current run */
  async add(subscriber: RunSubscriber, run: RunsTable): Promise<void> {
    const { runId } = subscriber;
    const watched: Watched = this.#watched.get(runId) ?? { subscribers: new Set() };
    this.#watched.set(runId, watched);
    watched.subscribers.add(subscriber);
    if (watched.latest !== undefined) show(watched.latest, subscriber);
    await this.#showNews([run]);
    subscriber.start();
  }

  remove(subscriber: RunSubscriber): void {
    const watched = this.#watched.get(subscriber.runId);
    watched?.subscribers.delete(subscriber);
    if (watched?.subscribers.size === 0) this.#watched.delete(subscriber.runId);
  }

  /** Stops the hub. Idempotent. */
  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    await Promise.all([this.#statuses.stop(), this.#poll.stop(), this.#reports.close()]);
  }

  async #look(): Promise<void> {
    await this.#showStatuses([...this.#watched.keys()]);
    await this.#lookForLines();
  }

  async #showStatuses(runIds: readonly string[]): Promise<void> {
    for (const runId of runIds) this.#changed.delete(runId);
    if (runIds.length === 0) return;
    await this.#showNews(await findRuns(this.#services.readModels, runIds));
  }

  async #showNews(rows: readonly RunsTable[]): Promise<void> {
    const changed = rows.filter((row) => this.#isNews(row));
    const bodies = await runsJson(changed, this.#services);
    for (const [index, row] of changed.entries()) this.#show(row, bodies[index]);
  }

  #isNews({ run_id: runId, stream_version: version }: RunsTable): boolean {
    const watched = this.#watched.get(runId);
    return watched !== undefined && (watched.latest?.version ?? 0) < version;
  }

  #show(row: RunsTable, run: unknown): void {
    const watched = this.#watched.get(row.run_id);
    if (watched === undefined || !this.#isNews(row)) return;
    const latest: Shown = {
      version: row.stream_version,
      status: row.status,
      isFinished: row.finished_at !== null,
      frame: Buffer.from(JSON.stringify({ type: 'status', run })),
    };
    watched.latest = latest;
    for (const one of watched.subscribers) show(latest, one);
  }

  /** Checks for new lines with one query per run. Each query starts at the line that the run's slowest idle
   *  subscriber needs. */
  async #lookForLines(): Promise<void> {
    for (const [runId, { subscribers }] of this.#watched) {
      const idle = [...subscribers].filter((one) => one.isIdle);
      if (idle.length === 0) continue;
      const nextSeq = Math.min(...idle.map((one) => one.nextSeq));
      const chunks = await this.#services.runLogs.readChunks(
        mustParse(parseRunId, runId),
        nextSeq,
        1,
      );
      if (chunks.length > 0) for (const one of idle) one.catchUp();
    }
  }
}

function show({ isFinished, status, frame }: Shown, subscriber: RunSubscriber): void {
  if (isFinished) subscriber.finish({ status, frame });
  else subscriber.show(frame);
}
