import { connection } from '#lib/api/connection.svelte.ts';
import { queryClient } from '#lib/api/query-client.ts';
import { keeper } from '#lib/api/tokens.ts';
import type { FeedFrame } from '#lib/api/types.ts';
import { browserPorts, openSocket } from './browser-ports.ts';
import { FeedCache } from './feed-cache.ts';
import { LiveSocket, type LinkState } from './live-socket.ts';

/** The server sends a heartbeat every 15 seconds, so this allows for two missed heartbeats. */
const maxSilenceMs = 40_000;
/** The polling interval of lists while the change feed is disconnected. */
const pollEveryMs = 10_000;

/** The feed of all changes to runs and scripts. Each tab has one connection. */
class LiveFeed {
  link = $state.raw<LinkState>({ state: 'ended' });
  /** The time at which the feed was disconnected, or null while it is connected. */
  brokenSince = $state.raw<Date | null>(null);
  #socket: LiveSocket | null = null;

  /** The `refetchInterval` of lists, which are polled only while the feed is disconnected. */
  readonly pollMs = $derived(this.brokenSince === null ? (false as const) : pollEveryMs);

  /** Connects to the feed and reconnects automatically. @returns a function that closes the connection */
  follow(): () => void {
    const cache = new FeedCache(queryClient, browserPorts, keeper.position);
    const socket = new LiveSocket(
      { ...browserPorts, open: (token) => openSocket('/ws', token) },
      {
        onText: (text) => {
          this.brokenSince = null;
          cache.take(JSON.parse(text) as FeedFrame);
        },
        onLink: (link) => this.#take(link),
      },
      maxSilenceMs,
    );
    this.#socket = socket;
    const forgetConnection = connection.onBack(() => void socket.connect());
    void socket.connect();
    return () => {
      forgetConnection();
      socket.close();
      this.brokenSince = null;
    };
  }

  /** Reconnects without waiting for the next attempt. */
  retry(): void {
    void this.#socket?.connect();
  }

  #take(link: LinkState): void {
    this.link = link;
    if (link.state === 'waiting' || link.state === 'refused') this.brokenSince ??= new Date();
    // Checks whether the server is unreachable too, so that the banner can show it immediately.
    if (link.state === 'waiting') void connection.probe();
  }
}

export const liveFeed = new LiveFeed();
