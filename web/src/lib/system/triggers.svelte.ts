import { createQuery } from '@tanstack/svelte-query';
import { liveFeed } from '#lib/live/live-feed.svelte.ts';
import { me } from '#lib/session/api.ts';
import { session } from '#lib/session/session.svelte.ts';

/** Queries when and by whom triggers were paused, or null if they are not paused. Call this function only while a
 *  component initializes. */
export function pausedTriggers() {
  const query = createQuery(() => ({
    queryKey: ['system', 'paused-triggers'],
    queryFn: async () => (await me()).paused_triggers,
    initialData: session.user?.paused_triggers ?? null,
    initialDataUpdatedAt: session.readAtMs,
    staleTime: 60_000,
    refetchInterval: liveFeed.pollMs,
  }));
  return {
    get paused() {
      return query.data;
    },
  };
}
