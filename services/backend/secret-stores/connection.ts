/** Reads the connection of a secret store from a request. */
import type { StoreConnection } from '#domain/secret-store/store.ts';
import type { Static } from 'typebox';
import { fieldProblem, type Problem } from '../http/problem.ts';
import type { SecretStoreChange } from './schema.ts';

type Body = Static<typeof SecretStoreChange>;

const vaultFields = [
  'address',
  'namespace',
  'mount',
  'kv_version',
  'auth',
  'auth_mount',
  'role_id',
  'credential',
] as const satisfies readonly (keyof Body)[];

/** @param present the settings that omitted fields keep */
export function readConnection(
  type: StoreConnection['type'],
  body: Body,
  present?: StoreConnection,
): StoreConnection | Problem {
  const kept = present?.type === type ? present : undefined;
  if (type === 'files') {
    const foreign = vaultFields.find((name) => body[name] !== undefined);
    if (foreign !== undefined)
      return fieldProblem(foreign, 'is not allowed for a store of the type "files"');
    const folder = body.folder ?? (kept?.type === 'files' ? kept.folder : undefined);
    return folder === undefined ? fieldProblem('folder', 'is required') : { type, folder };
  }
  if (body.folder !== undefined)
    return fieldProblem('folder', 'is not allowed for a store of the type "vault"');
  const before = kept?.type === 'vault' ? kept : undefined;
  const address = body.address ?? before?.address;
  if (address === undefined) return fieldProblem('address', 'is required');
  const auth = body.auth ?? before?.auth.type ?? 'token';
  const role = before?.auth.type === 'app_role' ? before.auth : undefined;
  const roleId = body.role_id ?? role?.roleId;
  if (auth === 'app_role' && roleId === undefined) return fieldProblem('role_id', 'is required');
  return {
    type,
    address,
    namespace: body.namespace === undefined ? (before?.namespace ?? null) : body.namespace,
    mount: body.mount ?? before?.mount ?? 'secret',
    kvVersion: (body.kv_version ?? before?.kvVersion) === 1 ? 1 : 2,
    auth:
      auth === 'token'
        ? { type: auth }
        : { type: auth, mount: body.auth_mount ?? role?.mount ?? 'approle', roleId: roleId ?? '' },
  };
}
