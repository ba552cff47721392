import { keeper } from '#lib/api/tokens.ts';
import type { LivePorts, Socket } from './live-socket.ts';

/** The browser functions that live connections use. */
export const browserPorts: LivePorts = {
  token: (stale) => keeper.renew(stale),
  nowMs: () => Date.now(),
  after: (delayMs, work) => {
    const timer = setTimeout(work, delayMs);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/** Opens a WebSocket to the page's own origin. */
export function openSocket(path: string, token: string): Socket {
  const address = new URL(path, location.href);
  address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  return new WebSocket(address, ['orch.v1', `orch.bearer.${token}`]) as Socket;
}
