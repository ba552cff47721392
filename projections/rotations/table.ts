import type { DueRotation } from '#domain/rotation/rotation.ts';
import type { Columns } from '../columns.ts';

/** The secrets of a script or group that are due for rotation. An owner without due secrets has no row. */
export interface DueRotationsTable {
  readonly owner_id: string;
  readonly stream_version: number;
  readonly owner_kind: 'script' | 'group';
  /** The due secrets, oldest first. */
  readonly due: readonly DueRotation[];
}

export const dueRotationColumns: Columns<DueRotationsTable> = {
  owner_id: 'uuid',
  stream_version: 'bigint',
  owner_kind: 'text',
  due: 'jsonb',
};
