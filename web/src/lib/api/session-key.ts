import { readApiError } from './api-error.ts';
import type { TokenAnswer } from './token-keeper.ts';

/** Where the key of the session lies. */
export interface KeyStore {
  get(): string | null;
  set(key: string): void;
  remove(): void;
}

const name = 'orch-session-key';

/** The session's key for all tabs of this origin. Servers on other ports of the host are sent the refresh cookie,
 *  but cannot read this. Where the browser keeps nothing, a session lasts as long as its access token. */
export const sessionKey: KeyStore = {
  get: () => inStorage((storage) => storage.getItem(name)) ?? null,
  set: (key) => inStorage((storage) => storage.setItem(name, key)),
  remove: () => inStorage((storage) => storage.removeItem(name)),
};

function inStorage<Value>(work: (storage: Storage) => Value): Value | undefined {
  try {
    return work(localStorage);
  } catch {
    return undefined;
  }
}

/** Trades the refresh cookie with the key. A browser without a key never asks the server, whose refusal would be in
 *  the audit trail.
 *  @param send posts to `/auth/refresh`
 *  @returns null when the session is over; its key is removed then
 *  @throws ApiError for any other refusal, TypeError when the server cannot be reached; the key stays */
export async function refreshWithKey(
  keys: KeyStore,
  send: (key: string) => Promise<Response>,
): Promise<TokenAnswer | null> {
  const key = keys.get();
  if (key === null) return null;
  const response = await send(key);
  if (response.ok) return (await response.json()) as TokenAnswer;
  if (response.status !== 401 && response.status !== 403) throw await readApiError(response);
  // Another tab has signed in meanwhile: its cookie came with another key.
  if (keys.get() !== key) return refreshWithKey(keys, send);
  keys.remove();
  return null;
}
