/** External secret stores. Secret values are read when a run needs them and are never stored in the platform. */
import type { StorePlace } from '#domain/secret-store/store.ts';

/** A connection to one store for one purpose, such as the start of a run. Values with the same path are read in one
 *  request. */
export interface SecretStore {
  /** Reads a value as UTF-8.
   *  @throws StoreFailure if the value does not exist, is too large or cannot be read */
  read(place: StorePlace, signal: AbortSignal): Promise<string>;
  /** Checks the connection without reading a value.
   *  @throws StoreFailure if the store cannot be reached or refuses the credential */
  check(signal: AbortSignal): Promise<void>;
}

/** A store could not be read. The message contains neither a secret value nor a credential. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure';
}
