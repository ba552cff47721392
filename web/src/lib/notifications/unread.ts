import { createQuery } from '@tanstack/svelte-query';
import { liveFeed } from '#lib/live/live-feed.svelte.ts';
import { session } from '#lib/session/session.svelte.ts';
import { listNotifications } from './api.ts';

/** Queries the number of the user's unread notifications, up to 1000. Call this function only while a component
 *  initializes. */
export function unread() {
  const query = createQuery(() => ({
    queryKey: ['notifications', 'unread'],
    queryFn: async () => (await listNotifications({ limit: 1 }, null)).unread,
    initialData: session.user?.unread_notifications ?? 0,
    initialDataUpdatedAt: session.readAtMs,
    staleTime: 60_000,
    refetchInterval: liveFeed.pollMs,
    enabled: session.may('notifications.read'),
  }));
  return {
    get count() {
      return query.data;
    },
  };
}
