import type { RunSample } from '#lib/api/types.ts';
import { runSamples } from '../api.ts';

/** The resource usage of a run: the stored samples, followed by live samples. */
export class RunUsage {
  samples = $state.raw<RunSample[]>([]);
  /** The error that prevented loading, or null if there was none. */
  failure = $state.raw<unknown>(null);
  readonly #runId: string;

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** Loads the stored samples. */
  async load(): Promise<void> {
    try {
      const stored = await runSamples(this.#runId);
      const last = stored.at(-1)?.time ?? '';
      this.samples = [...stored, ...this.samples.filter((sample) => sample.time > last)];
      this.failure = null;
    } catch (error) {
      this.failure = error;
    }
  }

  /** Adds a live sample. */
  put(sample: RunSample): void {
    const last = this.samples.at(-1);
    if (last === undefined || last.time < sample.time) this.samples = [...this.samples, sample];
  }
}
