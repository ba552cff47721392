import { readApiError } from './api-error.ts';
import type { TokenAnswer } from './token-keeper.ts';

/** Stores a text that all tabs of this origin share. Stores nothing if the browser has no storage. */
export interface TextStore {
  get(): string | null;
  set(text: string): void;
  remove(): void;
}

/** The session key, shared by all tabs of this origin. Servers on other ports of the host receive the refresh cookie,
 *  but cannot read this key. In a browser without storage, a session lasts as long as its access token. */
export const sessionKey: TextStore = storedText('orch-session-key');

/** @param name in the browser's storage */
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

/** Exchanges the refresh cookie and the session key for an access token. Without a key it sends no request, because
 *  a refusal would appear in the audit trail.
 *  @param send posts to `/auth/refresh`
 *  @returns null if the session has ended; the key is then removed
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
  // Another tab has signed in, so the cookie belongs to its key. Retries with the new key.
  if (keys.get() !== key) return refreshWithKey(keys, send);
  keys.remove();
  return null;
}
