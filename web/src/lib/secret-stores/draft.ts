import type { SecretStoreInput, SecretStore, SecretStoreChange } from '#lib/api/types.ts';

/** The values of the secret store form. */
export interface Draft {
  name: string;
  type: SecretStore['type'];
  forAll: boolean;
  groupIds: string[];
  folder: string;
  address: string;
  namespace: string;
  mount: string;
  kvVersion: '1' | '2';
  auth: 'token' | 'app_role';
  authMount: string;
  roleId: string;
  credential: string;
}

/** @param store the store to edit; null creates a store */
export function draftOf(store: SecretStore | null): Draft {
  return {
    name: store?.name ?? '',
    type: store?.type ?? 'vault',
    forAll: store === null ? false : store.group_ids === null,
    groupIds: store?.group_ids ?? [],
    folder: store?.folder ?? '',
    address: store?.address ?? '',
    namespace: store?.namespace ?? '',
    mount: store?.mount ?? 'secret',
    kvVersion: store?.kv_version === 1 ? '1' : '2',
    auth: store?.auth ?? 'token',
    authMount: store?.auth_mount ?? 'approle',
    roleId: store?.role_id ?? '',
    credential: '',
  };
}

export function changeOf(draft: Draft): SecretStoreChange {
  const groups = { group_ids: draft.forAll ? null : draft.groupIds };
  const name = draft.name.trim();
  if (draft.type === 'files') return { name, ...groups, folder: draft.folder.trim() };
  return {
    name,
    ...groups,
    address: draft.address.trim(),
    namespace: draft.namespace.trim() || null,
    mount: draft.mount.trim(),
    kv_version: Number(draft.kvVersion),
    auth: draft.auth,
    ...(draft.auth === 'app_role' && {
      auth_mount: draft.authMount.trim(),
      role_id: draft.roleId.trim(),
    }),
    ...(draft.credential !== '' && { credential: draft.credential }),
  };
}

export function newStoreOf(draft: Draft): SecretStoreInput {
  const group_ids = draft.forAll ? null : draft.groupIds;
  return { ...changeOf(draft), name: draft.name.trim(), type: draft.type, group_ids };
}
