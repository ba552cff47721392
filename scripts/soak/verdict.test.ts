import { describe, expect, test } from 'vitest';
import type { Entry, Seen } from './journal.ts';
import { judge, type Verdict } from './verdict.ts';

const script = 's';
const accepted = (run: string): Entry => ({ what: 'accepted', run, script });
const said = (what: 'started' | 'alive' | 'ended', run: string, process = `${run}-1`): Entry => ({
  what,
  run,
  script,
  process,
});
const executed = (run: string): Entry[] => [said('started', run), said('ended', run)];
const final = (run: string, status = 'success', reason: string | null = null): Entry => ({
  what: 'final',
  run,
  script,
  status,
  reason,
  retryOf: null,
});
const saved = (content: string): Entry => ({ what: 'saved', script, content });
const kept = (content: string): Entry => ({ what: 'kept', script, content });

function verdictOn(...entries: readonly Entry[]): Partial<Verdict> {
  const journal: Seen[] = entries.map((entry, at) => ({ ...entry, at }));
  const found = Object.entries(judge(journal)).filter(([, those]) => those.length > 0);
  return Object.fromEntries(found);
}

describe('the judgement', () => {
  test('is good when each run was executed once, and in order', () => {
    const all = [accepted('a'), accepted('b'), ...executed('a'), ...executed('b')];
    expect(verdictOn(...all, final('a'), final('b'), saved('1'), saved('2'), kept('2'))).toEqual(
      {},
    );
  });

  test('is good when a run ended with its runtime', () => {
    expect(
      verdictOn(accepted('a'), said('started', 'a'), final('a', 'failed', 'runtime_lost')),
    ).toEqual({});
  });

  test.each<[string, Entry[], Partial<Verdict>]>([
    ['a run that the platform does not know', [accepted('a')], { lost: ['a'] }],
    [
      'a file that is older than what was saved',
      [saved('1'), saved('2'), kept('1')],
      { lost: ['s,2'] },
    ],
    ['a file that is gone', [saved('1')], { lost: ['s,1'] }],
    [
      'two processes of one run',
      [accepted('a'), ...executed('a'), said('started', 'a', 'a-2'), final('a')],
      { duplicated: ['a'] },
    ],
    ['a run that never ends', [accepted('a'), final('a', 'queued')], { stuck: ['a'] }],
    ['a success that was never seen', [accepted('a'), final('a')], { wrong: ['a'] }],
    [
      'a failure that nothing explains',
      [accepted('a'), ...executed('a'), final('a', 'failed', 'exit_code')],
      { wrong: ['a'] },
    ],
    [
      'a run that was executed and is queued still',
      [accepted('a'), ...executed('a'), final('a', 'queued')],
      { stuck: ['a'], wrong: ['a'] },
    ],
    [
      'two runs of a script at once',
      [
        accepted('a'),
        accepted('b'),
        said('started', 'a'),
        said('started', 'b'),
        said('ended', 'a'),
        said('ended', 'b'),
        final('a'),
        final('b'),
      ],
      { overlapping: ['a and b'] },
    ],
    [
      'a run before one that was accepted earlier',
      [accepted('a'), accepted('b'), ...executed('b'), ...executed('a'), final('a'), final('b')],
      { outOfOrder: ['b'] },
    ],
  ])('names %s', (_name, entries, expected) => {
    expect(verdictOn(...entries)).toEqual(expected);
  });
});
