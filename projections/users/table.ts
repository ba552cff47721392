import type { Identity, SecondFactor } from '#domain/user/events.ts';
import type { Role } from '#domain/kernel/actor.ts';
import type { Columns } from '../columns.ts';

/** The second factor of an account, with the times of each passkey by passkey ID. */
export interface StoredFactor extends SecondFactor {
  readonly passkeyTimes?: Readonly<Record<string, PasskeyTimes>>;
}

/** When a passkey was added and last used, in ISO 8601. */
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
  /** The version of the account when it was created or its sessions were last ended. Only sessions with this version
   *  are valid. */
  readonly access_version: number;
  /** The session that remained valid when the other sessions were ended. */
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
