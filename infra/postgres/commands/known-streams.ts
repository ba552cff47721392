/** Streams as this process has last seen them, for commands that can be decided without asking the database: the
 *  append at the expected version tells whether they still are so. For processes whose commands follow their own. */
import type { StreamId } from '#domain/kernel/event.ts';
import { versionOf, type History } from '#domain/snapshots.ts';

const maxStreams = 256;
/** A longer stream is worth more memory than the question is. */
const maxEvents = 16;

export class KnownStreams {
  /** The one that was kept last is last. */
  readonly #histories = new Map<StreamId, History>();

  /** All of the streams; `undefined` where one of them is not known. */
  all(streamIds: Iterable<StreamId>): ReadonlyMap<StreamId, History> | undefined {
    const found = new Map<StreamId, History>();
    for (const streamId of streamIds) {
      const history = this.#histories.get(streamId);
      if (history === undefined) return undefined;
      found.set(streamId, history);
    }
    return found;
  }

  /** Keeps what was read or recorded, and committed. A later known version is not replaced. */
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
