import { browserPorts, openSocket } from '#lib/live/browser-ports.ts';
import { RunSocket, type RunSocketEvents } from './run-socket.ts';

/** Opens the live stream of a run on the page's own origin. */
export function openRunSocket(runId: string, fromSeq: number, events: RunSocketEvents): RunSocket {
  const open = (seq: number, token: string) =>
    openSocket(`/ws/runs/${runId}?from_seq=${seq}`, token);
  return new RunSocket(fromSeq, { ...browserPorts, open }, events);
}
