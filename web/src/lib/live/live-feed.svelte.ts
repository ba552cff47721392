import { connection } from '#lib/api/connection.svelte.ts';
import { queryClient } from '#lib/api/query-client.ts';
import type { FeedFrame } from '#lib/api/types.ts';
import { browserPorts, openSocket } from './browser-ports.ts';
import { FeedCache } from './feed-cache.ts';
import { LiveSocket, type LinkState } from './live-socket.ts';

/** The server sends a sign of life every 15 seconds. */
const maxSilenceMs = 40_000;
/** While nothing comes by itself, lists are asked for this often. */
const pollEveryMs = 10_000;

/** The one stream that tells this tab of every run and script. */
class LiveFeed {
  link = $state.raw<LinkState>({ state: 'ended' });
  /** Since when nothing comes by itself; null while it does. */
  brokenSince = $state.raw<Date | null>(null);
  #socket: LiveSocket | null = null;

  /** For `refetchInterval`: lists are only asked for again while the stream is broken. */
  readonly pollMs = $derived(this.brokenSince === null ? (false as const) : pollEveryMs);

  /** Connects, and comes back by itself. @returns the way to end that */
  follow(): () => void {
    const cache = new FeedCache(queryClient, browserPorts);
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

  /** Tries again at once. */
  retry(): void {
    void this.#socket?.connect();
  }

  #take(link: LinkState): void {
    this.link = link;
    if (link.state === 'waiting' || link.state === 'refused') this.brokenSince ??= new Date();
    // Is it this stream, or the server? The banner shall say so at once.
    if (link.state === 'waiting') void connection.probe();
  }
}

export const liveFeed = new LiveFeed();
