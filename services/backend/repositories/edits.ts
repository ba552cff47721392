/** Reads a script's local changes since the last commit. */
import type { Recorded } from '#domain/aggregates.ts';
import type { ScriptId } from '#domain/kernel/ids.ts';
import type { ScriptSource } from '#domain/repository/repository.ts';
import { scriptAggregate } from '#domain/script/decide.ts';
import type { ScriptEvent } from '#domain/script/events.ts';
import { readStream } from '#infra/postgres/event-store/event-store.ts';
import { stateOf } from '#infra/postgres/event-store/states-at.ts';
import { streamVersionOf } from '#infra/postgres/event-store/streams-at.ts';
import type { SourcedScript } from '#projections/repositories/queries.ts';
import type { Item } from '../configuration/kind.ts';
import { scriptItem } from '../configuration/kinds/scripts.ts';
import type { Services } from '../services.ts';
import type { EditedScript } from './merge.ts';

export interface Edits extends Pick<EditedScript, 'earlier' | 'now'> {
  readonly scriptId: ScriptId;
  readonly source: ScriptSource;
  /** The version of the script that includes these changes. */
  readonly version: number;
  /** The changes in order. */
  readonly events: readonly Recorded<ScriptEvent>[];
  /** The script as of an earlier version. */
  readonly itemAt: (version: number) => Promise<Item>;
}

/** Reads the changes up to the version of the script. */
export async function readEdits(
  scriptId: ScriptId,
  { source, version }: SourcedScript,
  { database }: Services,
): Promise<Edits> {
  const stream = `script-${scriptId}` as const;
  const { version: base, pushed } = source.writeBack ?? { version, pushed: null };
  const itemAt = async (wanted: number): Promise<Item> => {
    const until = await streamVersionOf(database, stream, wanted);
    const state = await stateOf(database, scriptAggregate, stream, until);
    if (state.status === 'absent') throw new Error(`script ${scriptId} has no version ${wanted}`);
    // Ignores the enabled state, because operators enable and disable scripts without a commit.
    return { ...scriptItem(scriptId, state), enabled: true };
  };
  const from = (await streamVersionOf(database, stream, base)) ?? 0;
  const events = (await readStream(database, stream, from + 1)) as readonly Recorded<ScriptEvent>[];
  return {
    scriptId,
    source,
    version,
    earlier: [await itemAt(base), ...(pushed ? [await itemAt(pushed.version)] : [])],
    now: await itemAt(version),
    events: events.filter(
      ({ data, metadata }) =>
        'version' in data && data.version <= version && metadata.actor.kind !== 'repository',
    ),
    itemAt,
  };
}
