import type { Role } from '#domain/kernel/actor.ts';
import type { Columns } from '../columns.ts';

export interface UsersTable {
  readonly user_id: string;
  readonly stream_version: number;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly group_ids: readonly string[];
  readonly can_audit: boolean;
  readonly disabled: boolean;
  readonly credential_id: string;
  /** Of the account's events, the last that ended its sessions: those opened after it count. */
  readonly access_version: number;
  /** The session that was spared then. */
  readonly kept_session_id: string | null;
  readonly created_at: Date;
}

export const userColumns: Columns<UsersTable> = {
  user_id: 'uuid',
  stream_version: 'bigint',
  email: 'text',
  name: 'text',
  role: 'text',
  group_ids: 'jsonb',
  can_audit: 'boolean',
  disabled: 'boolean',
  credential_id: 'uuid',
  access_version: 'bigint',
  kept_session_id: 'uuid',
  created_at: 'timestamptz',
};
