import type { RunSpan } from '#lib/api/types.ts';
import { runSpans } from '../api.ts';
import { withSpan } from './span-rows.ts';

/** The spans of a run: the stored spans, updated with live changes. */
export class RunSpans {
  items = $state.raw<RunSpan[]>([]);
  /** The error that prevented loading, or null if there was none. */
  failure = $state.raw<unknown>(null);
  loaded = $state(false);
  readonly #runId: string;

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** Loads all stored spans. */
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
