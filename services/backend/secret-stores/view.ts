/** Formats external secret stores for API responses. Credentials are never returned. */
import type { GroupId } from '#domain/kernel/ids.ts';
import type { StoreConnection } from '#domain/secret-store/store.ts';
import type { SecretStoresTable } from '#projections/secret-stores/table.ts';

/** @param visible the groups that the caller can see; null for administrators, who can see all settings */
export function secretStoreJson(row: SecretStoresTable, visible: readonly GroupId[] | null) {
  const { name, groupIds, connection } = row.settings;
  return {
    id: row.secret_store_id,
    name,
    type: connection.type,
    group_ids:
      visible === null ? groupIds : (groupIds?.filter((id) => visible.includes(id)) ?? null),
    ...(visible === null ? settingsJson(connection) : noSettings),
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

/** Whether scripts of the caller's groups may read the store. */
export function canSeeStore(
  { settings: { groupIds } }: SecretStoresTable,
  visible: readonly GroupId[] | null,
): boolean {
  return visible === null || groupIds === null || groupIds.some((id) => visible.includes(id));
}

const noSettings = {
  folder: null,
  address: null,
  namespace: null,
  mount: null,
  kv_version: null,
  auth: null,
  auth_mount: null,
  role_id: null,
};

/** The settings of a connection. Settings that belong to other types are null. */
export function settingsJson(connection: StoreConnection) {
  if (connection.type === 'files') return { ...noSettings, folder: connection.folder };
  const { address, namespace, mount, kvVersion, auth } = connection;
  return {
    ...noSettings,
    address,
    namespace,
    mount,
    kv_version: kvVersion,
    auth: auth.type,
    ...(auth.type === 'app_role' && { auth_mount: auth.mount, role_id: auth.roleId }),
  };
}
