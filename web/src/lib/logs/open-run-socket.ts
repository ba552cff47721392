import { keeper } from '../api/tokens.ts';
import { RunSocket, type RunSocketEvents, type Socket } from './run-socket.ts';

/** A connection to the live stream of one run, on this page's own origin. */
export function openRunSocket(runId: string, fromSeq: number, events: RunSocketEvents): RunSocket {
  return new RunSocket(
    fromSeq,
    {
      open: (seq, token) => {
        const address = new URL(`/ws/runs/${runId}?from_seq=${seq}`, location.href);
        address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
        return new WebSocket(address, ['orch.v1', `orch.bearer.${token}`]) as Socket;
      },
      token: (stale) => keeper.renew(stale),
      nowMs: () => Date.now(),
      after: (delayMs, work) => {
        const timer = setTimeout(work, delayMs);
        return () => clearTimeout(timer);
      },
      random: () => Math.random(),
    },
    events,
  );
}
