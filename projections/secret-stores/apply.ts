import type { Recorded } from '#domain/aggregates.ts';
import type { SecretStoreEvent } from '#domain/secret-store/events.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { secretStoreColumns, type SecretStoresTable } from './table.ts';

/** Builds the external secret stores. */
export const secretStoresProjection: Projection = rowProjection<
  SecretStoresTable,
  Recorded<SecretStoreEvent>
>({
  name: 'secret_stores',
  version: 1,
  table: 'secret_stores',
  key: 'secret_store_id',
  columns: secretStoreColumns,
  handles: ['SecretStoreCreated', 'SecretStoreChanged', 'SecretStoreDeleted'],
  keyOf: (event) => event.data.secretStoreId,
  step: (row, event) => {
    const at = event.recordedAt;
    if (event.type === 'SecretStoreCreated') {
      const { secretStoreId, sealed, ...settings } = event.data;
      return {
        secret_store_id: secretStoreId,
        settings,
        sealed,
        created_at: at,
        updated_at: at,
        deleted: false,
      };
    }
    if (row === undefined) return undefined;
    switch (event.type) {
      case 'SecretStoreChanged': {
        const { secretStoreId: _, sealed = row.sealed, ...changes } = event.data;
        return { ...row, settings: { ...row.settings, ...changes }, sealed, updated_at: at };
      }
      case 'SecretStoreDeleted':
        return { ...row, sealed: null, deleted: true, updated_at: at };
    }
  },
});
