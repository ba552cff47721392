/** Closes a socket after its credential expires, its owner loses access, or its client disconnects. */
import type { Principal } from '#domain/kernel/actor.ts';
import { startLoop, type Loop } from '#services/shared/loop.ts';
import type { WebSocket } from 'ws';
import type { Credential } from '../http/credentials/authentication.ts';
import type { Services } from '../services.ts';
import { endings, type Ending } from './close-reasons.ts';
import { ownersOf } from './find-owners.ts';

const checkEveryMs = 2000;
/** The delay between an event and the resulting check of credentials. Events during the delay share one check. */
const checkSoonMs = 200;
const pingEveryMs = 30_000;
/** A socket is closed after this many pings without a response and without progress in sending. */
const maxSilentRounds = 4;

export interface GuardedSocket {
  readonly socket: WebSocket;
  readonly credential: Credential;
  /** Checks the socket. Called repeatedly with the current owner. @returns the reason if the socket must close */
  readonly lookAt: (owner: Principal) => Ending | undefined;
}

interface Guarded extends GuardedSocket {
  silentRounds: number;
  bufferedBytes: number;
}

export class SocketGuard {
  readonly #services: Services;
  readonly #sockets = new Set<Guarded>();
  readonly #sessions: Loop;
  readonly #pings: Loop;
  readonly #unsubscribe: () => void;
  #soon: NodeJS.Timeout | undefined;

  constructor(services: Services) {
    this.#services = services;
    const { bus, logger } = services;
    this.#sessions = startLoop({
      name: 'check socket sessions',
      everyMs: checkEveryMs,
      runOnce: () => this.#checkSessions(),
      logger,
    });
    this.#pings = startLoop({
      name: 'ping sockets',
      everyMs: pingEveryMs,
      runOnce: () => Promise.resolve(this.#ping()),
      logger,
    });
    this.#unsubscribe = bus.subscribe('events', () => this.#checkSoon());
  }

  get size(): number {
    return this.#sockets.size;
  }

  add(socket: GuardedSocket): void {
    const guarded: Guarded = { ...socket, silentRounds: 0, bufferedBytes: 0 };
    this.#sockets.add(guarded);
    this.#services.metrics.openSockets.set(this.#sockets.size);
    socket.socket.on('pong', () => {
      guarded.silentRounds = 0;
    });
    socket.socket.once('close', () => {
      this.#sockets.delete(guarded);
      this.#services.metrics.openSockets.set(this.#sockets.size);
    });
  }

  /** Closes all sockets with a code that asks clients to reconnect. Idempotent. */
  async close(): Promise<void> {
    this.#unsubscribe();
    clearTimeout(this.#soon);
    await Promise.all([this.#sessions.stop(), this.#pings.stop()]);
    for (const { socket } of this.#sockets) {
      socket.close(1001, 'the service is stopping');
      setTimeout(() => socket.terminate(), 1000).unref();
    }
  }

  #checkSoon(): void {
    if (this.#sockets.size === 0) return;
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.#sessions.wake();
    }, checkSoonMs);
  }

  async #checkSessions(): Promise<void> {
    if (this.#sockets.size === 0) return;
    const checked = [...this.#sockets];
    const ownerOf = await ownersOf(checked, this.#services);
    for (const { socket, credential, lookAt } of checked) {
      const owner = ownerOf(credential);
      const ending =
        owner === undefined
          ? endings.sessionEnded
          : owner.mustSetUpFactor === true
            ? endings.factorMissing
            : lookAt(owner.principal);
      if (ending !== undefined) socket.close(ending.close, ending.reason);
    }
  }

  #ping(): void {
    for (const one of this.#sockets) {
      const { socket } = one;
      // Progress in sending counts as a response, because a slow reader's ping is queued behind its data.
      const isMoving = socket.bufferedAmount < one.bufferedBytes;
      one.bufferedBytes = socket.bufferedAmount;
      one.silentRounds = isMoving ? 0 : one.silentRounds + 1;
      if (one.silentRounds > maxSilentRounds) socket.terminate();
      else socket.ping();
    }
  }
}
