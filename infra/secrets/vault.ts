/** Seals and opens secret values. */
import type { Ids } from '#domain/ports/ids.ts';
import type { Sealed } from '#domain/secret/events.ts';
import type pg from 'pg';
import { DataKeys, destroyUnusedDataKey, type MasterKeys } from './data-keys.ts';
import { close, open, UnreadableSecret } from './envelope.ts';

/** Identifies the owner and name to which a sealed value is bound. */
export interface SecretPlace {
  /** The ID of the script, the group, the webhook whose calls are signed, or the notification channel. */
  readonly scriptId: string;
  readonly name: string;
  readonly version: number;
}

export class Vault {
  readonly #pool: pg.Pool;
  readonly #keys: DataKeys;

  /** @param masterKeys keys of 32 bytes each */
  constructor(pool: pg.Pool, masterKeys: MasterKeys, ids: Ids) {
    this.#pool = pool;
    this.#keys = new DataKeys(pool, masterKeys, ids);
  }

  /** @throws UnreadableSecret if an unknown master key wrapped the script's data key */
  async seal(place: SecretPlace, value: string): Promise<Sealed> {
    const { keyId, key } = await this.#keys.ofScript(place.scriptId);
    const { nonce, ciphertext } = close(key, Buffer.from(value), contextOf(place, keyId));
    return { keyId, nonce: nonce.toString('base64'), ciphertext: ciphertext.toString('base64') };
  }

  /** @throws UnreadableSecret if the value was changed, or if its key was destroyed or is wrapped by an unknown master
   *  key. The error names the secret but never contains its value */
  async open(place: SecretPlace, { keyId, nonce, ciphertext }: Sealed): Promise<string> {
    try {
      const { key } = await this.#keys.byId(keyId);
      const box = {
        nonce: Buffer.from(nonce, 'base64'),
        ciphertext: Buffer.from(ciphertext, 'base64'),
      };
      return open(key, box, contextOf(place, keyId)).toString('utf8');
    } catch (cause) {
      if (!(cause instanceof UnreadableSecret)) throw cause;
      throw new UnreadableSecret(
        `The secret "${place.name}" cannot be read: ${cause.message}. Set it again.`,
        { cause },
      );
    }
  }

  /** Rewraps all data keys with the current master key.
   *  @returns the number of data keys that cannot be unwrapped */
  async rewrap(): Promise<number> {
    return await this.#keys.rewrap();
  }

  /** Destroys the owner's data key if the owner has no remaining secrets. */
  async destroyUnusedKey(ownerId: string): Promise<void> {
    await destroyUnusedDataKey(this.#pool, ownerId);
  }
}

function contextOf({ scriptId, name, version }: SecretPlace, keyId: string): readonly string[] {
  return ['secret', scriptId, name, String(version), keyId];
}
