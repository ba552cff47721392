/** Compares secrets that are due for rotation with secrets that are recorded as due. */
import type { DueRotation } from '#domain/rotation/rotation.ts';
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';

export interface RotationsToCheck {
  readonly owner_kind: 'script' | 'group';
  readonly owner_id: string;
  /** The secret values that are due for rotation, sorted by name. `dueAt` is in any format that `Date` can parse. */
  readonly due: readonly DueRotation[];
  /** The names of the owner's existing secrets. */
  readonly present: readonly string[];
  /** The secret values that are recorded as due. */
  readonly noted: readonly DueRotation[];
  /** The version of the stream that records rotations. 0 if the stream does not exist. */
  readonly seen: number;
}

const toCheck = statement<RotationsToCheck>(`
  WITH present AS (
    SELECT 'script' AS owner_kind, script_id AS owner_id, s.name AS owner_name, x.name, x.version,
      x.updated_at + x.rotate_after_days * interval '24 hours' AS due_at
    FROM secrets x JOIN scripts s USING (script_id) WHERE x.sealed IS NOT NULL AND NOT s.deleted
    UNION ALL
    SELECT 'group', group_id, g.name, x.name, x.version,
      x.updated_at + x.rotate_after_days * interval '24 hours'
    FROM group_secrets x JOIN groups g USING (group_id) WHERE x.sealed IS NOT NULL),
  due AS (SELECT * FROM present WHERE due_at <= $1),
  owners AS (
    SELECT owner_kind, owner_id FROM due
    UNION
    SELECT owner_kind, owner_id FROM due_rotations WHERE due <> '[]')
  SELECT owner_kind, owner_id,
    coalesce((SELECT json_agg(json_build_object('name', d.name, 'version', d.version,
        'ownerName', d.owner_name, 'dueAt', d.due_at) ORDER BY d.name)
      FROM due d WHERE d.owner_id = o.owner_id), '[]') AS due,
    coalesce((SELECT json_agg(p.name ORDER BY p.name) FROM present p WHERE p.owner_id = o.owner_id), '[]') AS present,
    coalesce(n.due, '[]') AS noted, coalesce(n.stream_version, 0) AS seen
  FROM owners o LEFT JOIN due_rotations n USING (owner_kind, owner_id)
  ORDER BY owner_id`);

/** Returns all owners that have secrets due at a time, or recorded rotations that may have to be cleared. */
export async function rotationsToCheck(
  db: ReadModels,
  now: Date,
): Promise<readonly RotationsToCheck[]> {
  return await toCheck(db, now);
}
