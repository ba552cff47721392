import type { Reaction } from './reaction.ts';

/** Cancels the queued runs of a disabled script, and also stops the active runs of a deleted script (contract §3,
 *  "Script"). Admitting a run locks the script, so the reaction sees every run that was admitted before the script
 *  was disabled. Runs that were admitted later continue, because the script had been enabled again. */
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
