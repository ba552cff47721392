/** Opens external secret stores based on their settings. */
import { StoreFailure, type SecretStore } from '#domain/ports/secret-stores.ts';
import type { SecretStoreSettings } from '#domain/secret-store/store.ts';
import type { Sealed } from '#domain/secret/events.ts';
import type { Targets } from '#infra/outgoing/targets.ts';
import type { Vault } from '#infra/secrets/vault.ts';
import { FileStore } from './files.ts';
import { TokenCache } from './token-cache.ts';
import { VaultStore } from './vault.ts';

/** The timeout for a store's response. */
export const storeTimeoutMs = 5_000;

/** A row of the `secret_stores` table. */
export interface StoreRow {
  readonly secret_store_id: string;
  readonly stream_version: number;
  readonly settings: SecretStoreSettings;
  readonly sealed: Sealed | null;
}

export interface SecretStoresOptions {
  readonly vault: Vault;
  readonly targets: Targets;
  /** The folders of secret files, as `name=/path`. */
  readonly folders: readonly string[];
}

export class SecretStores {
  readonly #options: SecretStoresOptions;
  readonly #folders: ReadonlyMap<string, string>;
  readonly #tokens = new TokenCache();

  constructor(options: SecretStoresOptions) {
    this.#options = options;
    this.#folders = new Map(options.folders.map(partsOf));
  }

  /** @throws StoreFailure if the operator has not configured the store's folder
   *  @throws UnreadableSecret if the store's credential cannot be decrypted */
  async open(row: StoreRow): Promise<SecretStore> {
    const { connection } = row.settings;
    switch (connection.type) {
      case 'files': {
        const root = this.#folders.get(connection.folder);
        if (root !== undefined) return new FileStore(root);
        throw new StoreFailure(
          `the folder "${connection.folder}" is not listed in ORCH_SECRET_FOLDERS`,
        );
      }
      case 'vault': {
        const { vault, targets } = this.#options;
        const { secret_store_id: id, stream_version: version, sealed } = row;
        if (sealed === null) throw new StoreFailure('the store has no credential');
        const credential = await vault.open(credentialPlace(id), sealed);
        const cacheKey = `${id} ${version}`;
        return new VaultStore({ connection, credential, targets, tokens: this.#tokens, cacheKey });
      }
    }
  }
}

/** Returns the encryption context of a store's sealed credential. */
export function credentialPlace(storeId: string) {
  return { scriptId: storeId, name: 'credential', version: 1 };
}

/** Returns the paths of folders given as `name=/path`. */
export function foldersOf(settings: readonly string[]): readonly string[] {
  return settings.map((one) => partsOf(one)[1]);
}

function partsOf(setting: string): [name: string, path: string] {
  const end = setting.indexOf('=');
  return [setting.slice(0, end), setting.slice(end + 1)];
}
