import { connection } from './connection.svelte.ts';
import { refreshWithKey, sessionKey } from './session-key.ts';
import { TokenKeeper, type HeldToken } from './token-keeper.ts';

/** Why a session ended: it expired or was revoked, or the user signed out. */
export type SessionEnd = 'expired' | 'logged-out';

type Message = { kind: 'token'; held: HeldToken } | { kind: 'ended' };

const channel = new BroadcastChannel('orch-session');
const endedListeners = new Set<(end: SessionEnd) => void>();

/** Runs `work` while no other tab renews or opens the session. Web Locks require HTTPS or a loopback address. Without
 *  Web Locks, tabs do not wait for each other. */
export function exclusively<T>(work: () => Promise<T>): Promise<T> {
  return navigator.locks ? navigator.locks.request('orch-refresh', work) : work();
}

/** The access token of this tab. Tabs share the token through messages and never store it. */
export const keeper = new TokenKeeper({
  refresh: () => refreshWithKey(sessionKey, postRefresh),
  exclusively,
  announce: (held) => post(held ? { kind: 'token', held } : { kind: 'ended' }),
  onEnded: () => notifyEnded('expired'),
  nowMs: () => Date.now(),
  random: () => Math.random(),
  after: (delayMs, work) => {
    const timer = setTimeout(work, delayMs);
    return () => clearTimeout(timer);
  },
});

channel.addEventListener('message', (event: MessageEvent<Message>) => {
  if (event.data.kind === 'token') return keeper.adopt(event.data.held);
  keeper.forget();
  notifyEnded('logged-out');
});

/** Calls `listener` when the session ends in this tab or another tab. */
export function onSessionEnded(listener: (end: SessionEnd) => void): void {
  endedListeners.add(listener);
}

/** Removes the access token from all tabs and deletes the session key. */
export function forgetEverywhere(): void {
  keeper.forget();
  sessionKey.remove();
  post({ kind: 'ended' });
}

function post(message: Message): void {
  channel.postMessage(message);
}

function notifyEnded(end: SessionEnd): void {
  for (const listener of endedListeners) listener(end);
}

function postRefresh(key: string): Promise<Response> {
  const headers = { 'orch-session-key': key };
  return connection.watch(() => fetch('/api/v1/auth/refresh', { method: 'POST', headers }));
}
