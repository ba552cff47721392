/** Stores the samples of all runs of a process in batches. Callers never wait for the store. While the store is
 *  unavailable, points remain in memory. The number of points per run is limited, regardless of its duration. Excess
 *  points of finished runs are dropped. */
import type { Clock } from '#domain/ports/clock.ts';
import type { RunSamples, SamplePoint } from '#domain/ports/run-samples.ts';
import type { RunSample } from '../sandbox/sandbox.ts';
import { SampleSeries } from './sample-series.ts';

const MAX_ENDED = 256;

export interface SampleRecorderDeps {
  readonly store: Pick<RunSamples, 'save'>;
  readonly clock: Clock;
  /** Called with each new sample. Must not throw. */
  readonly publish: (runId: string, point: SamplePoint) => void;
  /** Called when a run with unsaved samples finishes. */
  readonly onEnd: () => void;
}

/** Records the samples of one run. */
export interface RunSampling {
  take(sample: RunSample): void;
  /** Ends the sampling. Idempotent. May be called before the first sample. */
  end(): void;
}

export class SampleRecorder {
  readonly #deps: SampleRecorderDeps;
  readonly #active = new Map<string, SampleSeries>();
  /** Unsaved samples of finished runs, oldest first. */
  readonly #ended = new Map<string, SampleSeries>();

  constructor(deps: SampleRecorderDeps) {
    this.#deps = deps;
  }

  /** Starts sampling a run. */
  open(runId: string): RunSampling {
    const { clock, publish } = this.#deps;
    const series = new SampleSeries(runId);
    return {
      take: (sample) => {
        this.#active.set(runId, series);
        const point = { timeMs: clock.now().getTime(), ...sample };
        series.add(point);
        publish(runId, point);
      },
      end: () => {
        if (this.#active.delete(runId)) this.#end(runId, series);
      },
    };
  }

  /** Stores all unsaved samples.
   *  @throws if the store is unavailable. The next call then retries */
  async saveOnce(): Promise<void> {
    const ended = [...this.#ended];
    const series = [...this.#active, ...ended].map(([, one]) => one);
    const taken = series.map((one) => ({ series: one, chunks: one.takeUnsaved() }));
    try {
      await this.#deps.store.save(taken.flatMap(({ chunks }) => chunks));
    } catch (error) {
      for (const one of taken) {
        const [first] = one.chunks;
        if (first !== undefined) one.series.markUnsaved(first.place);
      }
      throw error;
    }
    for (const [runId] of ended) this.#ended.delete(runId);
  }

  #end(runId: string, series: SampleSeries): void {
    this.#ended.set(runId, series);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
    this.#deps.onEnd();
  }
}
