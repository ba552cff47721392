import { createQuery } from '@tanstack/svelte-query';
import { liveFeed } from '#lib/live/live-feed.svelte.ts';
import { systemInfo } from './api.ts';

/** Whether triggers are paused, since when and by whom. For components only. */
export function triggers() {
  const query = createQuery(() => ({
    queryKey: ['system'],
    queryFn: systemInfo,
    staleTime: 60_000,
    refetchInterval: liveFeed.pollMs,
  }));
  return {
    get paused() {
      return query.data?.triggers.paused ?? false;
    },
    get since() {
      return query.data?.triggers.since ?? null;
    },
    get by() {
      return query.data?.triggers.by ?? null;
    },
  };
}
