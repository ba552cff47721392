/** What happened to a script, event by event, and what each did to its files. */
import type { Recorded } from '#domain/aggregates.ts';
import type { ScriptId } from '#domain/kernel/ids.ts';
import type { ScriptEvent } from '#domain/script/events.ts';
import { evolveScript, type ScriptState } from '#domain/script/state.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { readBackwards } from '#infra/postgres/stream-past.ts';
import { scriptStateAt } from './past-scripts.ts';

/** A path whose content changed; `null` where there was no file before, or is none after. */
export interface FileChange {
  readonly path: string;
  readonly sha256_before: string | null;
  readonly sha256_after: string | null;
}

export interface Happening {
  readonly event: Recorded<ScriptEvent>;
  readonly files: readonly FileChange[];
}

/** Newest first, from before the version `before` of the script's stream; at most `limit`. */
export async function readScriptHistory(
  db: Queryable,
  scriptId: ScriptId,
  before: number | undefined,
  limit: number,
): Promise<readonly Happening[]> {
  const read = await readBackwards(db, `script-${scriptId}`, before, limit);
  const events = (read as readonly Recorded<ScriptEvent>[]).toReversed();
  let state = await scriptStateAt(db, scriptId, (events[0]?.version ?? 1) - 1);
  const happenings = events.map((event) => {
    const earlier = state;
    state = evolveScript(earlier, event, event.version);
    return { event, files: fileChanges(event, earlier, state) };
  });
  return happenings.toReversed();
}

function fileChanges(
  event: ScriptEvent,
  before: ScriptState,
  after: ScriptState,
): readonly FileChange[] {
  return pathsOf(event).map((path) => ({
    path,
    sha256_before: hashOf(before, path),
    sha256_after: hashOf(after, path),
  }));
}

function hashOf(state: ScriptState, path: string): string | null {
  return state.status === 'absent' ? null : (state.files.get(path)?.sha256 ?? null);
}

/** The paths that an event is about. */
function pathsOf(event: ScriptEvent): readonly string[] {
  switch (event.type) {
    case 'ScriptCreated':
      return event.data.files.map(({ path }) => path);
    case 'FileSaved':
    case 'FileDeleted':
      return [event.data.path];
    case 'FileMoved':
      return [event.data.from, event.data.path];
    case 'ScriptChanged':
    case 'ScriptEnabled':
    case 'ScriptDisabled':
    case 'ScriptDeleted':
    case 'ScriptRestored':
    case 'ScriptPurged':
    case 'ScriptPurgeFinished':
      return [];
  }
}
