import type { RunSpan } from '#lib/api/types.ts';
import { runSpans } from '../api.ts';
import { withSpan } from './span-rows.ts';

/** The spans of one run: the stored ones, and live changes. */
export class RunSpans {
  items = $state.raw<RunSpan[]>([]);
  /** Why the spans could not be loaded; null without a failure. */
  failure = $state.raw<unknown>(null);
  loaded = $state(false);
  readonly #runId: string;

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** Reads all stored spans. */
  async load(): Promise<void> {
    try {
      this.items = await runSpans(this.#runId);
      this.loaded = true;
      this.failure = null;
    } catch (error) {
      this.failure = error;
    }
  }

  /** Adds or updates a span that has started or ended. */
  put(span: RunSpan): void {
    this.items = withSpan(this.items, span);
  }
}
