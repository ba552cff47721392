import { readApiError } from './api-error.ts';
import type { TokenAnswer } from './token-keeper.ts';

/** Stores a text that all tabs of this origin share. If the browser has no storage, nothing is stored. */
export interface TextStore {
  get(): string | null;
  set(text: string): void;
  remove(): void;
}

/** The session key, shared by all tabs of this origin. Servers on other ports of the same host receive the refresh
 *  cookie but cannot read this key. In a browser without storage, a session ends when its access token expires. */
export const sessionKey: TextStore = storedText('orch-session-key');

/** @param name the key in the browser's storage */
export function storedText(name: string): TextStore {
  return {
    get: () => inStorage((storage) => storage.getItem(name)) ?? null,
    set: (text) => inStorage((storage) => storage.setItem(name, text)),
    remove: () => inStorage((storage) => storage.removeItem(name)),
  };
}

function inStorage<Value>(work: (storage: Storage) => Value): Value | undefined {
  try {
    return work(localStorage);
  } catch {
    return undefined;
  }
}

/** Exchanges the refresh cookie and the session key for an access token. Without a key, no request is sent, because the
 *  audit trail would record its refusal.
 *  @param send posts to `/auth/refresh`
 *  @returns null if the session has ended, after removing the key
 *  @throws ApiError for any other refusal, TypeError if the server is unreachable; the key is kept */
export async function refreshWithKey(
  keys: TextStore,
  send: (key: string) => Promise<Response>,
): Promise<TokenAnswer | null> {
  const key = keys.get();
  if (key === null) return null;
  const response = await send(key);
  if (response.ok) return (await response.json()) as TokenAnswer;
  if (response.status !== 401 && response.status !== 403) throw await readApiError(response);
  // Another tab has signed in, so the cookie belongs to the other tab's key. Retries with that key.
  if (keys.get() !== key) return refreshWithKey(keys, send);
  keys.remove();
  return null;
}
