import { queryClient } from '../query-client.ts';

/** Has everything asked for again that shows a run of this script. */
export function refreshRunsOf(scriptId: string): void {
  const shown = [['runs'], ['scripts'], ['script-runs', scriptId], ['script', scriptId]];
  for (const queryKey of shown) void queryClient.invalidateQueries({ queryKey });
}
