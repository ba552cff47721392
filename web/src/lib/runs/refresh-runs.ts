import { queryClient } from '#lib/api/query-client.ts';
import { liveFeed } from '#lib/live/live-feed.svelte.ts';

/** Has everything asked for again that shows a run of this script, where nobody tells of it. */
export function refreshRunsOf(scriptId: string): void {
  if (liveFeed.link.state === 'live') return;
  const shown = [['runs'], ['scripts'], ['script-runs', scriptId], ['script', scriptId]];
  for (const queryKey of shown) void queryClient.invalidateQueries({ queryKey });
}
