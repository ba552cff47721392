import type { Reaction } from './reaction.ts';

/** Disabling ends what waits; deleting ends what runs as well (contract §3, "Script"). A run that was
 *  admitted before the script was withdrawn is in the reads by now: admission guards the script. One
 *  that was admitted later belongs to a script that was enabled again, however late this comes. */
export const whenScriptWithdrawnStopRuns: Reaction = {
  name: 'when-script-withdrawn-stop-runs',
  handles: ['ScriptDisabled', 'ScriptDeleted'],
  inAnyOrder: true,
  react: async (event, reads) => {
    if (event.type !== 'ScriptDisabled' && event.type !== 'ScriptDeleted') return [];
    const active = await reads.activeRuns(event.data.scriptId);
    return active
      .filter((run) => run.queuedAt <= event.recordedAt)
      .filter((run) => event.type === 'ScriptDeleted' || run.status === 'queued')
      .map((run) => ({ type: 'StopRun', runId: run.runId }));
  },
};
