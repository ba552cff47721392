import { createQuery } from '@tanstack/svelte-query';
import { listNotifications } from '../api/notifications.ts';
import { liveFeed } from './live-feed.svelte.ts';
import { session } from './session.svelte.ts';

/** How many notifications the reader has not read, up to 1000. For components only. */
export function unread() {
  const query = createQuery(() => ({
    queryKey: ['notifications', 'unread'],
    queryFn: () => listNotifications({ limit: 1 }, null),
    staleTime: 60_000,
    refetchInterval: liveFeed.pollMs,
    enabled: session.may('notifications.read'),
  }));
  return {
    get count() {
      return query.data?.unread ?? 0;
    },
  };
}
