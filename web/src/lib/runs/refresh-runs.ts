import { queryClient } from '#lib/api/query-client.ts';
import { liveFeed } from '#lib/live/live-feed.svelte.ts';

/** Reloads all data that shows runs of this script, unless the change feed is connected and updates the data itself. */
export function refreshRunsOf(scriptId: string): void {
  if (liveFeed.link.state === 'live') return;
  const shown = [['runs'], ['scripts'], ['script-runs', scriptId], ['script', scriptId]];
  for (const queryKey of shown) void queryClient.invalidateQueries({ queryKey });
}
