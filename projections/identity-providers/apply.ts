import type { Recorded } from '#domain/aggregates.ts';
import type { IdentityProviderEvent } from '#domain/identity-provider/events.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { identityProviderColumns, type IdentityProvidersTable } from './table.ts';

/** Builds the identity providers for single sign-on. */
export const identityProvidersProjection: Projection = rowProjection<
  IdentityProvidersTable,
  Recorded<IdentityProviderEvent>
>({
  name: 'identity_providers',
  version: 1,
  table: 'identity_providers',
  key: 'identity_provider_id',
  columns: identityProviderColumns,
  handles: ['IdentityProviderCreated', 'IdentityProviderChanged', 'IdentityProviderDeleted'],
  keyOf: (event) => event.data.identityProviderId,
  step: (row, event) => {
    const at = event.recordedAt;
    if (event.type === 'IdentityProviderCreated') {
      const { identityProviderId, slug, sealed, ...settings } = event.data;
      return {
        identity_provider_id: identityProviderId,
        slug,
        settings,
        sealed,
        created_at: at,
        updated_at: at,
        deleted: false,
      };
    }
    if (row === undefined) return undefined;
    switch (event.type) {
      case 'IdentityProviderChanged': {
        const { identityProviderId: _, sealed = row.sealed, ...changes } = event.data;
        return { ...row, settings: { ...row.settings, ...changes }, sealed, updated_at: at };
      }
      case 'IdentityProviderDeleted':
        return { ...row, sealed: null, deleted: true, updated_at: at };
    }
  },
});
