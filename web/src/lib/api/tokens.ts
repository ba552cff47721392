import { connection } from '../state/connection.svelte.ts';
import { readApiError } from './api-error.ts';
import { markSignedIn, mayBeSignedIn } from './signed-in-mark.ts';
import { TokenKeeper, type HeldToken, type TokenAnswer } from './token-keeper.ts';

/** Why a session ended: it ran out or was revoked, or the person left. */
export type SessionEnd = 'expired' | 'logged-out';

type Message = { kind: 'token'; held: HeldToken } | { kind: 'ended' };

const channel = new BroadcastChannel('orch-session');
const endedListeners = new Set<(end: SessionEnd) => void>();

/** The access token of this tab, shared with the other tabs by message and never stored. */
export const keeper = new TokenKeeper({
  refresh,
  exclusively: (work) =>
    // Web Locks need HTTPS or loopback; without them each tab refreshes on its own.
    navigator.locks ? navigator.locks.request('orch-refresh', work) : work(),
  announce: (held) => {
    markSignedIn(held !== null);
    post(held ? { kind: 'token', held } : { kind: 'ended' });
  },
  onEnded: () => {
    markSignedIn(false);
    tellEnded('expired');
  },
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
  tellEnded('logged-out');
});

/** Calls `listener` when the session has ended, here or in another tab. */
export function onSessionEnded(listener: (end: SessionEnd) => void): void {
  endedListeners.add(listener);
}

/** Forgets the token in every tab. */
export function forgetEverywhere(): void {
  keeper.forget();
  markSignedIn(false);
  post({ kind: 'ended' });
}

function post(message: Message): void {
  channel.postMessage(message);
}

function tellEnded(end: SessionEnd): void {
  for (const listener of endedListeners) listener(end);
}

async function refresh(): Promise<TokenAnswer | null> {
  if (!mayBeSignedIn()) return null;
  const response = await connection.watch(() => fetch('/api/v1/auth/refresh', { method: 'POST' }));
  if (response.ok) return (await response.json()) as TokenAnswer;
  if (response.status === 401 || response.status === 403) return null;
  throw await readApiError(response);
}
