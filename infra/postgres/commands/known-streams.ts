/** Caches recently read streams, so that commands can be decided without a query. Appending at the
 *  expected version verifies the cached stream. The cache helps processes that change the same streams repeatedly. */
import type { StreamId } from '#domain/kernel/event.ts';
import { versionOf, type History } from '#domain/snapshots.ts';

const maxStreams = 256;
/** Longer streams are not cached, because the saved queries would not justify the memory. */
const maxEvents = 16;

export class KnownStreams {
  /** In order of use, with the most recently used stream last. */
  readonly #histories = new Map<StreamId, History>();

  /** Returns the histories of all given streams, or `undefined` if one of them is not cached. */
  all(streamIds: Iterable<StreamId>): ReadonlyMap<StreamId, History> | undefined {
    const found = new Map<StreamId, History>();
    for (const streamId of streamIds) {
      const history = this.#histories.get(streamId);
      if (history === undefined) return undefined;
      found.set(streamId, history);
    }
    return found;
  }

  /** Caches committed events that were read or recorded. Does not replace a later version. */
  keep(streamId: StreamId, history: History): void {
    const before = this.#histories.get(streamId);
    if (before !== undefined && versionOf(before) > versionOf(history)) return;
    this.#histories.delete(streamId);
    if (versionOf(history) > maxEvents) return;
    this.#histories.set(streamId, history);
    for (const oldest of this.#histories.keys()) {
      if (this.#histories.size <= maxStreams) break;
      this.#histories.delete(oldest);
    }
  }

  forget(streamIds: Iterable<StreamId>): void {
    for (const streamId of streamIds) this.#histories.delete(streamId);
  }

  clear(): void {
    this.#histories.clear();
  }
}
