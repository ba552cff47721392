/** What `/ws` says of runs and scripts: how they are at the time of saying it. */
import { known, parseRunId, parseScriptId, type RunId, type ScriptId } from '#domain/kernel/ids.ts';
import { findRuns } from '#projections/runs/queries.ts';
import { findScriptGroups, findScripts } from '#projections/scripts/queries.ts';
import { runsJson } from '../routes/run-lists.ts';
import { scriptJson } from '../routes/views.ts';
import type { Services } from '../services.ts';

export interface FeedFrame {
  /** Group of what it is about: whoever does not see that must not see the frame. */
  readonly groupId: string;
  readonly frame: Buffer;
}

/** Whether changes of a stream are told at all. */
export function isTold(streamId: string): boolean {
  return streamId.startsWith('run-') || streamId.startsWith('script-');
}

/** The frames of streams, made once for all who get them; what is gone for good has none. */
export async function framesOf(
  streamIds: readonly string[],
  services: Services,
): Promise<ReadonlyMap<string, FeedFrame>> {
  const idsOf = (prefix: string) =>
    streamIds.filter((id) => id.startsWith(prefix)).map((id) => id.slice(prefix.length));
  const [runs, scripts] = await Promise.all([
    runFrames(
      idsOf('run-').map((id) => known(parseRunId, id)),
      services,
    ),
    scriptFrames(
      idsOf('script-').map((id) => known(parseScriptId, id)),
      services,
    ),
  ]);
  return new Map([...runs, ...scripts]);
}

type Entry = readonly [streamId: string, frame: FeedFrame];

async function runFrames(ids: readonly RunId[], services: Services): Promise<readonly Entry[]> {
  if (ids.length === 0) return [];
  const rows = await findRuns(services.readModels, ids);
  const bodies = await runsJson(rows, services);
  return rows.map((row, index) => [
    `run-${row.run_id}`,
    { groupId: row.group_id, frame: frameOf({ type: 'status', run: bodies[index] }) },
  ]);
}

async function scriptFrames(
  ids: readonly ScriptId[],
  { readModels }: Services,
): Promise<readonly Entry[]> {
  if (ids.length === 0) return [];
  const [views, groups] = await Promise.all([
    findScripts(readModels, ids),
    findScriptGroups(readModels, ids),
  ]);
  const shown = new Map(views.map((view) => [view.script_id, view]));
  return [...groups].map(([scriptId, groupId]) => {
    const view = shown.get(scriptId);
    const body =
      view === undefined
        ? { type: 'script_deleted', script_id: scriptId }
        : { type: 'script', script: scriptJson(view) };
    return [
      `script-${scriptId}`,
      // Its group may change between the two questions; the view has both of one moment.
      { groupId: view?.group_id ?? groupId, frame: frameOf(body) },
    ];
  });
}

function frameOf(body: object): Buffer {
  return Buffer.from(JSON.stringify(body));
}
