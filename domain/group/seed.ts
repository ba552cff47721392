/** The groups that every new installation contains (specification §2, "Group"). */
import { mustParse, parseGroupId, type GroupId } from '#domain/kernel/ids.ts';
import type { GroupCreated } from './events.ts';

const group = (id: string, name: string, color: string, icon: string): GroupCreated['data'] => ({
  groupId: mustParse(parseGroupId, id),
  name,
  color,
  icon,
});

export const seededGroups = [
  group('01900000-0000-7000-8000-000000000001', 'monitoring', '#0ea5e9', 'activity'),
  group('01900000-0000-7000-8000-000000000002', 'bots', '#8b5cf6', 'bot'),
  group('01900000-0000-7000-8000-000000000003', 'ETL', '#f59e0b', 'database'),
  group('01900000-0000-7000-8000-000000000004', 'custom', '#64748b', 'folder'),
] as const;

/** The group of scripts that are created without a group. */
export const defaultGroupId: GroupId = mustParse(
  parseGroupId,
  '01900000-0000-7000-8000-000000000004',
);
