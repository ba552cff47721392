/** Caches streams as this process last saw them, so that commands can be decided without a query. The append at the
 *  expected version verifies the cache. Useful for processes that change the same streams repeatedly. */
import type { StreamId } from '#domain/kernel/event.ts';
import { versionOf, type History } from '#domain/snapshots.ts';

const maxStreams = 256;
/** Longer streams are not cached, because the saved query does not justify the memory. */
const maxEvents = 16;

export class KnownStreams {
  /** In order of use, most recently used last. */
  readonly #histories = new Map<StreamId, History>();

  /** The histories of all these streams; `undefined` if one of them is not cached. */
  all(streamIds: Iterable<StreamId>): ReadonlyMap<StreamId, History> | undefined {
    const found = new Map<StreamId, History>();
    for (const streamId of streamIds) {
      const history = this.#histories.get(streamId);
      if (history === undefined) return undefined;
      found.set(streamId, history);
    }
    return found;
  }

  /** Caches committed events that were read or recorded. A later cached version is not replaced. */
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
