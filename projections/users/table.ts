import type { Identity, SecondFactor } from '#domain/user/events.ts';
import type { Role } from '#domain/kernel/actor.ts';
import type { Columns } from '../columns.ts';

/** The second factor, with the times of its passkeys by passkey ID. */
export interface StoredFactor extends SecondFactor {
  readonly passkeyTimes?: Readonly<Record<string, PasskeyTimes>>;
}

/** The times in ISO 8601. */
export interface PasskeyTimes {
  readonly addedAt: string;
  readonly lastUsedAt?: string;
}

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
  /** Version of the account at the last event that ended its sessions. Only sessions that were opened later are
   *  valid. */
  readonly access_version: number;
  /** The session that stayed valid at that event. */
  readonly kept_session_id: string | null;
  readonly identities: readonly Identity[];
  readonly second_factor: StoredFactor | null;
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
  identities: 'jsonb',
  second_factor: 'jsonb',
  created_at: 'timestamptz',
};
