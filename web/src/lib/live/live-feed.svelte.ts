import { connection } from '#lib/api/connection.svelte.ts';
import { queryClient } from '#lib/api/query-client.ts';
import { keeper } from '#lib/api/tokens.ts';
import type { FeedFrame } from '#lib/api/types.ts';
import { browserPorts, openSocket } from './browser-ports.ts';
import { FeedCache } from './feed-cache.ts';
import { LiveSocket, type LinkState } from './live-socket.ts';

/** The server sends a heartbeat every 15 seconds. */
const maxSilenceMs = 40_000;
/** The polling interval of lists while the stream is down. */
const pollEveryMs = 10_000;

/** The stream of all changes to runs and scripts. Each tab has one stream. */
class LiveFeed {
  link = $state.raw<LinkState>({ state: 'ended' });
  /** When the stream went down; null while it works. */
  brokenSince = $state.raw<Date | null>(null);
  #socket: LiveSocket | null = null;

  /** For `refetchInterval`: lists are polled only while the stream is down. */
  readonly pollMs = $derived(this.brokenSince === null ? (false as const) : pollEveryMs);

  /** Connects, and reconnects automatically. @returns a function that closes the connection */
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

  /** Retries immediately. */
  retry(): void {
    void this.#socket?.connect();
  }

  #take(link: LinkState): void {
    this.link = link;
    if (link.state === 'waiting' || link.state === 'refused') this.brokenSince ??= new Date();
    // Checks whether the stream or the server is down, so that the banner shows it immediately.
    if (link.state === 'waiting') void connection.probe();
  }
}

export const liveFeed = new LiveFeed();
