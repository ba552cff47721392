/** Records which secrets are due for rotation and which have received a new value. */
import { mustParse, parseGroupId, parseScriptId } from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import { systemContext, type Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import { valueKey, type DueRotation, type RotationOwner } from '#domain/rotation/rotation.ts';
import type { ReadModels } from '#projections/projection.ts';
import { rotationsToCheck, type RotationsToCheck } from '#projections/rotations/queries.ts';
import { oneByOne } from './one-by-one.ts';

export interface RotationDeps {
  readonly reads: ReadModels;
  readonly commands: Commands;
  readonly ids: Ids;
  readonly clock: Clock;
}

/** Runs one check. The result is discarded if another scheduler has recorded a result since this check read its
 *  data. */
export async function checkRotations({ reads, commands, ids, clock }: RotationDeps): Promise<void> {
  const owners = await rotationsToCheck(reads, clock.now());
  await oneByOne(owners, async (checked) => {
    const { owner_id, due, present, noted, seen } = checked;
    if (isSame(due, noted)) return;
    await commands.execute(
      { type: 'NoteRotations', ...ownerOf(checked), due: due.map(withTime), present, seen },
      systemContext('scheduler', ids.next(), owner_id),
    );
  });
}

function ownerOf({ owner_kind, owner_id }: RotationsToCheck): RotationOwner {
  return owner_kind === 'script'
    ? { scriptId: mustParse(parseScriptId, owner_id), groupId: null }
    : { scriptId: null, groupId: mustParse(parseGroupId, owner_id) };
}

function withTime(one: DueRotation): DueRotation {
  return { ...one, dueAt: new Date(one.dueAt).toISOString() };
}

function isSame(one: readonly DueRotation[], other: readonly DueRotation[]): boolean {
  const keys = new Set(one.map(valueKey));
  return keys.size === other.length && other.every((due) => keys.has(valueKey(due)));
}
