/** The events of a script and their effects on files. */
import type { Recorded } from '#domain/aggregates.ts';
import type { ScriptId } from '#domain/kernel/ids.ts';
import type { ScriptEvent } from '#domain/script/events.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { readBackwards } from '#infra/postgres/event-store/streams-at.ts';
import { scriptStateAt } from './state-at.ts';

/** A changed path with the hash of its content before and after the change; `null` if the file does not exist. */
export interface FileChange {
  readonly path: string;
  readonly sha256_before: string | null;
  readonly sha256_after: string | null;
}

export interface HistoryEntry {
  readonly event: Recorded<ScriptEvent>;
  readonly files: readonly FileChange[];
}

/** Reads at most `limit` events of the script's stream before version `before`, newest first. */
export async function readScriptHistory(
  db: Queryable,
  scriptId: ScriptId,
  before: number | undefined,
  limit: number,
): Promise<readonly HistoryEntry[]> {
  const read = await readBackwards(db, `script-${scriptId}`, before, limit);
  const events = (read as readonly Recorded<ScriptEvent>[]).toReversed();
  const state = await scriptStateAt(db, scriptId, (events[0]?.version ?? 1) - 1);
  const files = state.status === 'absent' ? [] : [...state.files.values()];
  const contents = new Map<string, string | null>(files.map(({ path, sha256 }) => [path, sha256]));
  const entries = events.map((event) => ({ event, files: fileChanges(event, contents) }));
  return entries.toReversed();
}

/** The file changes in an event. Also updates `contents`. */
function fileChanges(
  event: ScriptEvent,
  contents: Map<string, string | null>,
): readonly FileChange[] {
  return contentsAfter(event).map(([path, after]) => {
    const before = contents.get(path) ?? null;
    contents.set(path, after);
    return { path, sha256_before: before, sha256_after: after };
  });
}

/** The paths that an event changes, with their new contents; `null` for a deleted file. */
function contentsAfter(event: ScriptEvent): readonly (readonly [string, string | null])[] {
  switch (event.type) {
    case 'ScriptCreated':
      return event.data.files.map(({ path, sha256 }) => [path, sha256]);
    case 'FileSaved':
      return [[event.data.path, event.data.sha256]];
    case 'FileDeleted':
      return [[event.data.path, null]];
    case 'FileMoved':
      return [
        [event.data.from, null],
        [event.data.path, event.data.sha256],
      ];
    case 'FilesRestored': {
      const { saved, deleted } = event.data;
      return [
        ...deleted.map((path) => [path, null] as const),
        ...saved.map(({ path, sha256 }) => [path, sha256] as const),
      ];
    }
    case 'ScriptChanged':
    case 'ScriptEnabled':
    case 'ScriptDisabled':
    case 'ScriptDeleted':
    case 'ScriptRestored':
    case 'ScriptPurged':
    case 'ScriptPurgeFinished':
    case 'ScriptSourceChanged':
    case 'ScriptChangeRequested':
    case 'ScriptChangeRevised':
    case 'ScriptChangeApproved':
    case 'ScriptChangeRejected':
    case 'ScriptChangeExpired':
    case 'ScriptChangeWithdrawn':
      return [];
  }
}
