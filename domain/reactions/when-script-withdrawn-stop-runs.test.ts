import type { Command } from '#domain/aggregates.ts';
import { runId, scriptId } from '#domain/testing/ids.ts';
import { beginning, recordAll } from '#domain/testing/recorded.ts';
import { reactionReads } from '#domain/testing/reads.ts';
import { describe, expect, test } from 'vitest';
import type { ActiveRun } from './reaction.ts';
import { whenScriptWithdrawnStopRuns } from './when-script-withdrawn-stop-runs.ts';

const stop = (number: number): Command => ({ type: 'StopRun', runId: runId(number) });

/** Returns the commands that the last of `events` causes. Two runs were queued `afterMs` after this event. */
async function reactTo(type: 'EnableScript' | 'DisableScript' | 'DeleteScript', afterMs = -1) {
  const events = await recordAll([...beginning, { type, scriptId: scriptId() }]);
  const event = events.at(-1)!;
  const queuedAt = new Date(event.recordedAt.getTime() + afterMs);
  const active: readonly ActiveRun[] = [
    { runId: runId(1), status: 'running', queuedAt },
    { runId: runId(2), status: 'queued', queuedAt },
  ];
  const reads = reactionReads({ activeRuns: () => Promise.resolve(active) });
  return await whenScriptWithdrawnStopRuns.react(event, reads, () => runId(9));
}

describe('the reaction for a waiting run and a running run', () => {
  test('stops only the waiting run when the script is disabled', async () => {
    expect(await reactTo('DisableScript')).toEqual([stop(2)]);
  });

  test('stops both runs when the script is deleted', async () => {
    expect(await reactTo('DeleteScript')).toEqual([stop(1), stop(2)]);
  });

  test('also stops a waiting run that was admitted in the same millisecond', async () => {
    expect(await reactTo('DisableScript', 0)).toEqual([stop(2)]);
  });

  test('ignores other events', async () => {
    const created = (await recordAll(beginning)).at(-1)!;
    expect(
      await whenScriptWithdrawnStopRuns.react(created, reactionReads(), () => runId(9)),
    ).toEqual([]);
  });
});

describe('runs that were admitted after their script was enabled again', () => {
  test('continue even if the reaction processes the earlier event late', async () => {
    expect(await reactTo('DisableScript', 1)).toEqual([]);
  });
});
