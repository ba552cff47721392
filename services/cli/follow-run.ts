/** Follows a run's log live, and resumes after connection failures. */
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { ApiProblem, part } from '#services/shared/api-client.ts';
import type { LogItem } from './answers.ts';
import type { Session } from './session.ts';

export interface Following {
  readonly session: Pick<Session, 'url' | 'token'>;
  readonly runId: string;
  readonly fromSeq: number;
  readonly signal: AbortSignal;
  /** Processes items. No further data is read until the returned promise resolves. */
  readonly onItems: (items: readonly LogItem[]) => Promise<void>;
  /** Called when the connection breaks, before the reconnect. */
  readonly onBreak: () => void;
}

const retryMs = 500;
const maxRetryMs = 5_000;
/** How long a server may be unavailable, for example during an update. */
const timeoutMs = 120_000;
/** A connection counts as dead if no data and no reply to a ping arrives for this long. */
const quietMs = 20_000;

/** How a connection ended; `end` is the end of the run. */
type End = 'end' | 'broken' | ApiProblem;

/** Resolves when the run has ended and its complete log was delivered once, in order.
 *  @throws ApiProblem if the run may not be followed, or the server stays unavailable */
export async function followRun(following: Following): Promise<void> {
  let nextSeq = following.fromSeq;
  /** The number of failed attempts since data was last received. */
  let tries = 0;
  let heardAt = performance.now();
  const onHeard = () => {
    tries = 0;
    heardAt = performance.now();
  };
  const onItems = async (items: readonly LogItem[]) => {
    const fresh = items.filter(({ seq }) => seq >= nextSeq);
    const last = fresh.at(-1);
    if (last === undefined) return;
    nextSeq = (last.to_seq ?? last.seq) + 1;
    await following.onItems(fresh);
    onHeard();
  };
  for (;;) {
    const end = await oneConnection({ ...following, onItems }, nextSeq, onHeard);
    following.signal.throwIfAborted();
    if (end === 'end') return;
    if (end !== 'broken') throw end;
    if (tries > 0 && performance.now() - heardAt > timeoutMs) throw gone;
    if (tries === 0) following.onBreak();
    await pause(Math.min(retryMs * 2 ** tries, maxRetryMs), undefined, {
      signal: following.signal,
    });
    tries += 1;
  }
}

const gone = new ApiProblem(503, 'unavailable', 'The backend does not respond.', {
  cause: 'connection lost',
});

interface Frame {
  readonly type: string;
  readonly items?: readonly LogItem[];
}

function oneConnection(
  { session, runId, signal, onItems }: Following,
  fromSeq: number,
  onOpen: () => void,
): Promise<End> {
  const { promise, resolve } = Promise.withResolvers<End>();
  const url = `${session.url.replace(/^http/, 'ws')}/ws/runs/${part(runId)}?from_seq=${fromSeq}`;
  const socket = new WebSocket(url, {
    headers: { Authorization: `Bearer ${session.token}` },
    handshakeTimeout: quietMs,
  });
  const stop = () => socket.terminate();
  signal.addEventListener('abort', stop);
  let isAlive = true;
  const pinging = setInterval(() => {
    if (!isAlive) socket.terminate();
    isAlive = false;
    if (socket.readyState === WebSocket.OPEN && !socket.isPaused) socket.ping();
    else isAlive = true;
  }, quietMs);
  let hasEnded = false;
  let giving = Promise.resolve();
  socket.on('open', onOpen);
  socket.on('pong', () => (isAlive = true));
  socket.on('message', (data) => {
    isAlive = true;
    const frame = JSON.parse(textOf(data)) as Frame;
    if (frame.type === 'end') hasEnded = true;
    const { items } = frame;
    if (frame.type !== 'log' || items === undefined) return;
    socket.pause();
    giving = giving.then(() => onItems(items)).finally(() => socket.resume());
  });
  // Ignores the error, because a `close` event with the code follows.
  socket.on('error', () => undefined);
  socket.on('close', (code) => {
    clearInterval(pinging);
    signal.removeEventListener('abort', stop);
    giving.then(
      () => resolve(hasEnded ? 'end' : endOf(code)),
      (error: unknown) => resolve(Promise.reject(error as Error)),
    );
  });
  return promise;
}

function textOf(data: unknown): string {
  return Buffer.isBuffer(data) ? data.toString('utf8') : '{}';
}

/** The close codes are described in docs/websocket.md, "Signing in". */
function endOf(code: number): End {
  if (code === 4401) return new ApiProblem(401, 'unauthenticated', 'The token is no longer valid.');
  if (code === 4403) return new ApiProblem(403, 'forbidden', 'Your role does not allow this.');
  if (code === 4404) return new ApiProblem(404, 'not_found', 'Run not found.');
  return 'broken';
}
