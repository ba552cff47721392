/** A TCP proxy that fails on demand, to simulate a slow or broken network. Does not interpret the traffic. */
import { once } from 'node:events';
import {
  connect,
  createServer,
  type AddressInfo,
  type NetConnectOpts,
  type Socket,
} from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** `request` is data from the client, `response` data from the server. */
export type Direction = 'request' | 'response';

/** What happens to connections. Bytes are counted per connection from the time when the fault is set. With `once`, the
 *  fault affects one connection, and later data passes. */
export type Fault =
  | { readonly kind: 'pass' }
  /** Delays each chunk by `delayMs` in both directions. */
  | { readonly kind: 'delay'; readonly delayMs: number }
  /** Resets the connections to both sides after `afterBytes` in one direction. */
  | {
      readonly kind: 'cut';
      readonly direction: Direction;
      readonly afterBytes: number;
      readonly once?: boolean;
    }
  /** Holds back data in one direction after `afterBytes`, until another fault is set. */
  | {
      readonly kind: 'hang';
      readonly direction: Direction;
      readonly afterBytes: number;
      readonly once?: boolean;
    }
  /** Accepts all data but forwards nothing, not even the end of a connection. A connection that has lost data stays
   *  silent even after another fault is set. */
  | { readonly kind: 'blackhole' }
  /** Refuses new connections and resets existing ones. */
  | { readonly kind: 'refuse' };

export interface FaultProxy {
  readonly host: string;
  readonly port: number;
  /** The number of connections accepted so far. */
  readonly accepted: number;
  /** Replaces the fault, also for existing connections. */
  set(fault: Fault): Promise<void>;
  /** Resolves when a `cut` or `hang` has affected a connection since the last `set`. */
  struck(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a proxy to a server that listens on a port or a Unix socket. The proxy forwards everything until a fault is
 *  set. */
export async function startFaultProxy(target: NetConnectOpts): Promise<FaultProxy> {
  const proxy = new TcpProxy(target);
  await proxy.listen();
  return proxy;
}

interface State {
  readonly fault: Fault;
  /** Resolves when another fault is set. */
  readonly replaced: Promise<void>;
  readonly replace: () => void;
  readonly struck: Promise<void>;
  readonly strike: () => void;
}

function stateOf(fault: Fault): State {
  const replaced = Promise.withResolvers<void>();
  const struck = Promise.withResolvers<void>();
  return {
    fault,
    replaced: replaced.promise,
    replace: replaced.resolve,
    struck: struck.promise,
    strike: struck.resolve,
  };
}

/** A client's connection, and the corresponding connection to the server. */
interface Link {
  readonly client: Socket;
  readonly server: Socket;
  /** Whether some of the connection's data was lost. */
  isSilent: boolean;
}

// Returns a loopback address that only this proxy uses, so that no other process gets its port while the proxy refuses
// connections.
function ownHost(): string {
  const part = (): number => 1 + Math.floor(Math.random() * 250);
  return `127.${part()}.${part()}.${part()}`;
}

class TcpProxy implements FaultProxy {
  readonly host = ownHost();
  port = 0;
  accepted = 0;
  readonly #target: NetConnectOpts;
  readonly #listener = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    this.#accept(client);
  });
  readonly #links = new Set<Link>();
  #state = stateOf({ kind: 'pass' });

  constructor(target: NetConnectOpts) {
    this.#target = target;
  }

  async listen(): Promise<void> {
    this.#listener.listen(this.port, this.host);
    await once(this.#listener, 'listening');
    this.port = (this.#listener.address() as AddressInfo).port;
  }

  async set(fault: Fault): Promise<void> {
    const before = this.#state;
    this.#state = stateOf(fault);
    before.replace();
    if (fault.kind === 'refuse') await this.#stopListening();
    else if (!this.#listener.listening) await this.listen();
  }

  struck(): Promise<void> {
    return this.#state.struck;
  }

  async close(): Promise<void> {
    this.#state.replace();
    await this.#stopListening();
  }

  async #stopListening(): Promise<void> {
    if (!this.#listener.listening) return;
    const closed = once(this.#listener, 'close');
    this.#listener.close();
    for (const link of this.#links) this.#reset(link);
    await closed;
  }

  #accept(client: Socket): void {
    this.accepted += 1;
    const server = connect({ ...this.#target, allowHalfOpen: true });
    const link: Link = { client, server, isSilent: false };
    this.#links.add(link);
    for (const socket of [client, server]) {
      socket.on('error', () => this.#reset(link));
      socket.on('close', () => {
        if (client.destroyed && server.destroyed) this.#links.delete(link);
      });
    }
    for (const direction of ['request', 'response'] as const) {
      // A failure means that a socket was closed. Resetting the connection reports this to the other side.
      this.#carry(link, direction).catch(() => this.#reset(link));
    }
  }

  #reset({ client, server }: Link): void {
    client.resetAndDestroy();
    server.destroy();
  }

  async #carry(link: Link, direction: Direction): Promise<void> {
    const [from, to] =
      direction === 'request' ? [link.client, link.server] : [link.server, link.client];
    let state = this.#state;
    let seenBytes = 0;
    for await (const piece of from as AsyncIterable<Buffer>) {
      let rest = piece;
      while (rest.length > 0) {
        if (state !== this.#state) [state, seenBytes] = [this.#state, 0];
        if (state.fault.kind === 'blackhole') link.isSilent = true;
        if (link.isSilent) break;
        const passing = await this.#admit(link, direction, rest.length, { state, seenBytes });
        if (passing > 0 && !to.write(rest.subarray(0, passing))) await once(to, 'drain');
        seenBytes += passing;
        rest = rest.subarray(passing);
      }
    }
    if (!link.isSilent && this.#state.fault.kind !== 'blackhole') to.end();
  }

  /** Waits or resets the connection, depending on the fault. @returns the number of bytes that may pass */
  async #admit(
    link: Link,
    direction: Direction,
    bytes: number,
    { state, seenBytes }: { readonly state: State; readonly seenBytes: number },
  ): Promise<number> {
    const { fault } = state;
    if (fault.kind === 'delay') await delay(fault.delayMs);
    if (fault.kind !== 'cut' && fault.kind !== 'hang') return bytes;
    if (fault.direction !== direction) return bytes;
    const left = fault.afterBytes - seenBytes;
    if (left > 0) return Math.min(left, bytes);
    state.strike();
    if (fault.once === true && state === this.#state) {
      this.#state = { ...state, fault: { kind: 'pass' } };
    }
    if (fault.kind === 'cut') {
      this.#reset(link);
      throw new Error('cut');
    }
    await state.replaced;
    return 0;
  }
}
