import type { Recorded } from '#domain/aggregates.ts';
import type { RotationEvent } from '#domain/rotation/events.ts';
import { valueKey } from '#domain/rotation/rotation.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { dueRotationColumns, type DueRotationsTable } from './table.ts';

/** Builds the secrets of each owner that are due for rotation. */
export const dueRotationsProjection: Projection = rowProjection<
  DueRotationsTable,
  Recorded<RotationEvent>
>({
  name: 'due_rotations',
  version: 1,
  table: 'due_rotations',
  key: 'owner_id',
  columns: dueRotationColumns,
  handles: ['SecretRotationDue', 'SecretRotationCleared'],
  keyOf: ({ data }) => data.scriptId ?? data.groupId,
  step: (row, { type, data }) => {
    const others = (row?.due ?? []).filter((one) => valueKey(one) !== valueKey(data));
    const owner = {
      owner_id: data.scriptId ?? data.groupId,
      owner_kind: data.scriptId === null ? 'group' : 'script',
    } as const;
    switch (type) {
      case 'SecretRotationDue': {
        const { name, version, ownerName, dueAt } = data;
        return { ...owner, due: [...others, { name, version, ownerName, dueAt }] };
      }
      case 'SecretRotationCleared':
        return { ...owner, due: others };
    }
  },
});
