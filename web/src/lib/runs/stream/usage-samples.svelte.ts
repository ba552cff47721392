import type { RunSample } from '#lib/api/types.ts';
import { runSamples } from '../api.ts';

/** What a run uses: what was stored, and what has come since. */
export class RunUsage {
  samples = $state.raw<RunSample[]>([]);
  /** Why the samples could not be read; null while they can. */
  failure = $state.raw<unknown>(null);
  readonly #runId: string;

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** Reads everything that is stored. */
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

  /** Takes a sample as it comes. */
  put(sample: RunSample): void {
    const last = this.samples.at(-1);
    if (last === undefined || last.time < sample.time) this.samples = [...this.samples, sample];
  }
}
