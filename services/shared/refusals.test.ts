import type { Commands } from '#domain/ports/commands.ts';
import { systemClock } from '#infra/system/clock.ts';
import { systemIds } from '#infra/system/ids.ts';
import { describe, expect, test } from 'vitest';
import { RefusalRecorder, type Refused } from './refusals.ts';

const refused: Refused = {
  operation: 'GET /api/v1/scripts',
  resource: null,
  code: 'unauthenticated',
  status: 401,
  actor: { kind: 'anonymous' },
  ip: '192.0.2.1',
  correlationId: 'trace',
};

/** Commands that fail while `state` says that the database is unavailable. */
function given() {
  const state = { isAway: true, recorded: [] as { count: number; ip: string | null }[] };
  const execute: Commands['execute'] = (command, { ip }) => {
    if (state.isAway) return Promise.reject(new Error('away'));
    if (command.type === 'RecordRefusal') state.recorded.push({ count: command.count, ip });
    return Promise.resolve({ kind: 'mismatched' });
  };
  const recorder = new RefusalRecorder({
    commands: {
      execute,
      executeAll: () => Promise.reject(new Error('away')),
      check: () => Promise.resolve(undefined),
    },
    ids: systemIds,
    clock: systemClock,
    logger: { error: () => undefined },
  });
  return { state, recorder };
}

describe('an unavailable database', () => {
  test('causes frequent refusals to be counted together, without losing any', async () => {
    const { state, recorder } = given();
    for (let index = 0; index < 5000; index += 1) {
      recorder.note({ ...refused, ip: `192.0.2.${index % 256}` });
      if (index % 500 === 0) await recorder.flush().catch(() => undefined);
    }
    state.isAway = false;
    await recorder.close();
    expect(state.recorded.reduce((sum, one) => sum + one.count, 0)).toBe(5000);
    expect(state.recorded.length).toBeLessThan(450);
    expect(state.recorded.some((one) => one.ip === null)).toBe(true);
  });
});
