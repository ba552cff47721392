import type { IdentityProviderSettings } from '#domain/identity-provider/provider.ts';
import type { Sealed } from '#domain/secret/events.ts';
import type { Columns } from '../columns.ts';

export interface IdentityProvidersTable {
  readonly identity_provider_id: string;
  readonly stream_version: number;
  /** Part of the redirect URI. Unique among providers that are not deleted. */
  readonly slug: string;
  readonly settings: IdentityProviderSettings;
  /** The encrypted client secret. Null for a public client. */
  readonly sealed: Sealed | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly deleted: boolean;
}

export const identityProviderColumns: Columns<IdentityProvidersTable> = {
  identity_provider_id: 'uuid',
  stream_version: 'bigint',
  slug: 'text',
  settings: 'jsonb',
  sealed: 'jsonb',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  deleted: 'boolean',
};
