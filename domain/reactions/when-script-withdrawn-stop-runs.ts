import type { Reaction } from './reaction.ts';

/** Disabling a script cancels its queued runs. Deleting a script also stops its active runs (contract §3, "Script").
 *  The admission of a run locks the script, so the reads include every run that was admitted before the script was
 *  disabled. A run that was admitted later is not stopped: the script had been enabled again. */
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
