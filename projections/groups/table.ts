import type { Columns } from '../columns.ts';

export interface GroupsTable {
  readonly group_id: string;
  readonly stream_version: number;
  readonly name: string;
  readonly color: string;
  readonly icon: string;
}

export const groupColumns: Columns<GroupsTable> = {
  group_id: 'uuid',
  stream_version: 'bigint',
  name: 'text',
  color: 'text',
  icon: 'text',
};
