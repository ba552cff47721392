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
const point = (what: 'marked' | 'returning' | 'returned'): Entry => ({ what, point: 'p' });
const concluded = (outcome: string): Entry => ({
  what: 'concluded',
  operation: 'backup',
  id: 'o',
  outcome,
  expected: ['complete'],
});
const kept = (content: string): Entry => ({ what: 'kept', script, content });

function verdictOn(...entries: readonly Entry[]): Partial<Verdict> {
  const journal: Seen[] = entries.map((entry, at) => ({ ...entry, at }));
  const found = Object.entries(judge(journal)).filter(([, those]) => those.length > 0);
  return Object.fromEntries(found);
}

describe('the verdict', () => {
  test('is positive if each run was executed once and in order', () => {
    const all = [accepted('a'), accepted('b'), ...executed('a'), ...executed('b')];
    expect(verdictOn(...all, final('a'), final('b'), saved('1'), saved('2'), kept('2'))).toEqual(
      {},
    );
  });

  test('requires no reports from scripts that are not part of the load', () => {
    expect(verdictOn({ ...final('a'), script: 'other' } as Entry)).toEqual({});
  });

  test('accepts a run that ended because its runtime was lost', () => {
    expect(
      verdictOn(accepted('a'), said('started', 'a'), final('a', 'failed', 'runtime_lost')),
    ).toEqual({});
  });

  test.each<[string, Entry[], Partial<Verdict>]>([
    ['a run that the platform does not know', [accepted('a')], { lost: ['a'] }],
    [
      'a file that is older than the saved content',
      [saved('1'), saved('2'), kept('1')],
      { lost: ['s,2'] },
    ],
    ['a lost file', [saved('1')], { lost: ['s,1'] }],
    [
      'two processes of one run',
      [accepted('a'), ...executed('a'), said('started', 'a', 'a-2'), final('a')],
      { duplicated: ['a'] },
    ],
    ['a run that never ends', [accepted('a'), final('a', 'queued')], { stuck: ['a'] }],
    ['a success that no client saw', [accepted('a'), final('a')], { wrong: ['a'] }],
    [
      'an unexplained failure',
      [accepted('a'), ...executed('a'), final('a', 'failed', 'exit_code')],
      { wrong: ['a'] },
    ],
    [
      'an executed run that is still queued',
      [accepted('a'), ...executed('a'), final('a', 'queued')],
      { stuck: ['a'], wrong: ['a'] },
    ],
    [
      'two concurrent runs of a script',
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
      'a run that was executed before an earlier one',
      [accepted('a'), accepted('b'), ...executed('b'), ...executed('a'), final('a'), final('b')],
      { outOfOrder: ['b'] },
    ],
  ])('reports %s', (_name, entries, expected) => {
    expect(verdictOn(...entries)).toEqual(expected);
  });
});

describe('the verdict after a rollback to an earlier state', () => {
  const returned = (...before: readonly Entry[]): readonly Entry[] => [
    point('marked'),
    ...before,
    point('returning'),
    point('returned'),
  ];

  test('does not require data that was acknowledged after that state', () => {
    const later = [accepted('b'), ...executed('b'), saved('2')];
    expect(verdictOn(saved('1'), ...returned(...later), kept('1'))).toEqual({});
  });

  test('accepts a file that was saved after that state', () => {
    expect(verdictOn(saved('1'), ...returned(saved('2')), kept('2'))).toEqual({});
  });

  test('accepts another execution of a run that was queued in that state', () => {
    const again = [said('started', 'a', 'a-2'), said('ended', 'a', 'a-2'), final('a')];
    expect(verdictOn(accepted('a'), ...returned(...executed('a')), ...again)).toEqual({});
  });

  test('distinguishes the states of two rollbacks', () => {
    const first = [point('marked'), point('returning'), point('returned')];
    const second = first.map((entry): Entry => ({ ...entry, point: 'q' }) as Entry);
    const [marked, ...returning] = second;
    const again = [said('started', 'a', 'a-2'), said('ended', 'a', 'a-2'), final('a')];
    const entries = [...first, accepted('a'), marked!, ...executed('a'), ...returning, ...again];
    expect(verdictOn(...entries)).toEqual({});
  });

  test('ignores the order of lost runs', () => {
    const later = [accepted('b'), ...executed('a'), ...executed('b')];
    const again = [said('started', 'a', 'a-2'), said('ended', 'a', 'a-2'), final('a')];
    expect(verdictOn(accepted('a'), ...returned(...later), ...again)).toEqual({});
  });

  const executedAgain = (process: string) => [
    said('started', 'a', process),
    said('ended', 'a', process),
  ];

  test.each<[string, readonly Entry[], Partial<Verdict>]>([
    ['a run of the reverted state', [accepted('a'), ...returned()], { lost: ['a'] }],
    ['a run after the rollback', [...returned(), accepted('a')], { lost: ['a'] }],
    [
      'a file of the reverted state',
      [saved('1'), saved('2'), ...returned(), kept('1')],
      { lost: ['s,2'] },
    ],
    [
      'a lost file from after the rollback',
      [saved('1'), ...returned(saved('2')), saved('3'), kept('2')],
      { lost: ['s,3'] },
    ],
    [
      'a run that was executed before the state and again later',
      [accepted('a'), ...executed('a'), ...returned(), ...executedAgain('a-2'), final('a')],
      { duplicated: ['a'] },
    ],
    [
      'a run that was executed twice before the rollback',
      [accepted('a'), ...returned(...executed('a'), ...executedAgain('a-2')), final('a')],
      { duplicated: ['a'] },
    ],
    [
      'a run that was executed twice after the rollback',
      [
        accepted('a'),
        ...returned(...executed('a')),
        ...executedAgain('a-2'),
        ...executedAgain('a-3'),
        final('a'),
      ],
      { duplicated: ['a'] },
    ],
    [
      'a lost run after a failed rollback',
      [point('marked'), accepted('a'), point('returning')],
      { lost: ['a'] },
    ],
  ])('reports %s', (_name, entries, expected) => {
    expect(verdictOn(...entries)).toEqual(expected);
  });
});

describe('the verdict on an operation', () => {
  const begun: Entry = { what: 'begun', operation: 'backup', id: 'o' };

  test('is positive if the operation ended as expected', () => {
    expect(verdictOn(begun, concluded('complete'))).toEqual({});
  });

  test('reports an operation with an unexpected outcome', () => {
    expect(verdictOn(begun, concluded('failed'))).toEqual({ wrong: ['backup: failed'] });
  });

  test('reports an operation that never ended', () => {
    expect(verdictOn(begun)).toEqual({ stuck: ['backup'] });
  });
});

describe('the verdict after days of downtime', () => {
  const passed: Entry = { what: 'days passed' };
  const expired = final('a', 'failed', 'expired');
  const retry: Entry = { ...final('b', 'failed', 'expired'), retryOf: 'a' } as Entry;
  const lost = final('a', 'failed', 'runtime_lost');

  test.each<[string, readonly Entry[]]>([
    ['a run that expired in the queue', [accepted('a'), passed, expired]],
    ['a retry that expired in the queue', [accepted('a'), passed, lost, retry]],
  ])('accepts %s', (_name, entries) => {
    expect(verdictOn(...entries)).toEqual({});
  });

  test.each<[string, readonly Entry[]]>([
    ['was accepted later', [passed, accepted('a'), expired]],
    ['was executed', [accepted('a'), ...executed('a'), passed, expired]],
  ])('reports an expired run that %s', (_name, entries) => {
    expect(verdictOn(...entries)).toEqual({ wrong: ['a'] });
  });

  test('reports a run that expired without such a downtime', () => {
    expect(verdictOn(accepted('a'), expired)).toEqual({ wrong: ['a'] });
  });
});
