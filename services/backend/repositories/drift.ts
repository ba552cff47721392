/** Finds scripts with drift, which are local changes that the repository's branch does not contain. */
import type { StreamId } from '#domain/kernel/event.ts';
import { changesSince } from '#infra/postgres/event-store/streams-at.ts';
import { actorName } from '#projections/actors.ts';
import { isEdited, sourcedScripts } from '#projections/repositories/queries.ts';
import type { Services } from '../services.ts';

export interface Drift {
  readonly kind: 'script';
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly since: Date;
  readonly by: string;
  /** The last commit that contains these changes. */
  readonly commit: {
    readonly branch: string;
    readonly hash: string;
    readonly url: string | null;
  } | null;
  readonly conflict: string | null;
}

/** The drift of all repositories, by repository ID. */
export async function readDrift({
  readModels,
  database,
}: Services): Promise<ReadonlyMap<string, readonly Drift[]>> {
  const edited = [...(await sourcedScripts(readModels))].filter(([, script]) => isEdited(script));
  const streamOf = (id: string): StreamId => `script-${id}`;
  const versions = edited.map(
    ([id, { source }]) => [streamOf(id), source.writeBack?.version ?? 0] as const,
  );
  const changes = await changesSince(database, new Map(versions));
  const all = edited.flatMap(([id, { name, source }]) => {
    const change = changes.get(streamOf(id));
    if (change === undefined) return [];
    const { pushed = null, conflict = null } = source.writeBack ?? {};
    const drift: Drift = {
      kind: 'script',
      id,
      name,
      path: source.path,
      since: change.since,
      by: actorName(change.actor),
      commit: pushed && { branch: pushed.branch, hash: pushed.commit, url: pushed.url },
      conflict,
    };
    return [{ repositoryId: source.repositoryId, drift }];
  });
  const grouped = Map.groupBy(all, ({ repositoryId }) => repositoryId);
  return new Map([...grouped].map(([id, items]) => [id, items.map(({ drift }) => drift)]));
}
