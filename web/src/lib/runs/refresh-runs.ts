import { queryClient } from '#lib/api/query-client.ts';
import { liveFeed } from '#lib/live/live-feed.svelte.ts';

/** Reloads everything that shows runs of this script, for changes without an event in the stream. */
export function refreshRunsOf(scriptId: string): void {
  if (liveFeed.link.state === 'live') return;
  const shown = [['runs'], ['scripts'], ['script-runs', scriptId], ['script', scriptId]];
  for (const queryKey of shown) void queryClient.invalidateQueries({ queryKey });
}
