/** The settings of an external secret store. */
import type { GroupId } from '#domain/kernel/ids.ts';

export const storeTypes = ['files', 'vault'] as const;

/** A folder of files, such as the mounted secrets of a Kubernetes pod. */
export interface FilesConnection {
  readonly type: 'files';
  /** Name of a folder that the operator allows in `ORCH_SECRET_FOLDERS`. The name is never a path. */
  readonly folder: string;
}

/** A key/value engine of HashiCorp Vault or OpenBao. */
export interface VaultConnection {
  readonly type: 'vault';
  /** Base URL of the server. */
  readonly address: string;
  readonly namespace: string | null;
  /** Path at which the engine is mounted on the server. */
  readonly mount: string;
  readonly kvVersion: 1 | 2;
  readonly auth: VaultAuth;
}

/** How the platform signs in to the server. The token or the secret ID is encrypted. */
export type VaultAuth =
  | { readonly type: 'token' }
  | { readonly type: 'app_role'; readonly mount: string; readonly roleId: string };

export type StoreConnection = FilesConnection | VaultConnection;

export interface SecretStoreSettings {
  readonly name: string;
  /** The groups whose scripts may read the store. Null means all groups. */
  readonly groupIds: readonly GroupId[] | null;
  readonly connection: StoreConnection;
}

/** The path and key of a secret value in a store. */
export interface StorePlace {
  /** Path segments separated by slashes. In a store of files, an empty path is the top folder. */
  readonly path: string;
  readonly key: string;
}

export const maxPathLength = 512;
export const maxKeyLength = 255;

/** Describes the problem with the path or key of a value, such as `the path must not contain ".."`. Returns
 *  `undefined` if both are valid. */
export function placeProblem({ path, key }: StorePlace): string | undefined {
  if (path.length > maxPathLength) return `the path has more than ${maxPathLength} characters`;
  if (path !== '') {
    const problem = segmentsProblem(path);
    if (problem !== undefined) return `the path ${problem}`;
  }
  if (key.length > maxKeyLength) return `the key has more than ${maxKeyLength} characters`;
  if (key.includes('/')) return 'the key must not contain a slash';
  const problem = segmentsProblem(key);
  return problem === undefined ? undefined : `the key ${problem}`;
}

/** Describes the problem with the connection settings. Returns `undefined` if they are valid. */
export function connectionProblem(connection: StoreConnection): string | undefined {
  switch (connection.type) {
    case 'files':
      return folderName.test(connection.folder)
        ? undefined
        : 'the folder must be a name of `ORCH_SECRET_FOLDERS`';
    case 'vault': {
      const { address, mount, namespace, auth } = connection;
      const wrong = addressProblem(address);
      if (wrong !== undefined) return `the address ${wrong}`;
      const paths = [mount, ...(namespace === null ? [] : [namespace])];
      if (auth.type === 'app_role') paths.push(auth.mount);
      const problem = paths.map(segmentsProblem).find((one) => one !== undefined);
      return problem === undefined ? undefined : `a mount path or namespace ${problem}`;
    }
  }
}

/** Whether the change of a connection requires new credentials. The existing credentials must not be sent to another
 *  server. */
export function needsNewCredentials(present: StoreConnection, wanted: StoreConnection): boolean {
  if (wanted.type === 'files') return false;
  if (present.type === 'files') return true;
  return (
    present.address !== wanted.address ||
    present.namespace !== wanted.namespace ||
    present.auth.type !== wanted.auth.type
  );
}

const folderName = /^[a-z0-9][a-z0-9_-]{0,39}$/;

function segmentsProblem(path: string): string | undefined {
  if (/[\p{Cc}\p{Cs}\\]/u.test(path)) return 'contains a control character or a backslash';
  const segments = path.split('/');
  if (segments.includes('')) return 'must not be empty, or begin or end with a slash';
  if (segments.some((one) => one === '.' || one === '..')) return 'must not contain "." or ".."';
  return undefined;
}

function addressProblem(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null) return 'is not a URL';
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return 'must not contain credentials, a query or a fragment';
  }
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback)) return undefined;
  return 'must use https; http is accepted for loopback addresses only';
}
