import type { Reaction } from './reaction.ts';

/** Reopens a resolved error group when its error recurs (contract part 2, "Failures"). The aggregate ignores runs of
 *  versions older than the fix. */
export const whenErrorRecursReopenGroup: Reaction = {
  name: 'when-error-recurs-reopen-group',
  handles: ['RunFinished'],
  react: async (event, reads) => {
    if (event.type !== 'RunFinished' || event.data.error === undefined) return [];
    const { runId } = event.data;
    const group = await reads.resolvedErrorGroup(runId);
    if (group === undefined) return [];
    return [{ type: 'ReopenErrorGroup', ...group, runId }];
  },
};
