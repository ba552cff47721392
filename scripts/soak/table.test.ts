import { expect, test } from 'vitest';
import type { Entry } from './journal.ts';
import { endsTableOf, isClean, rowOf, strikesTableOf, tableOf, type Session } from './table.ts';

const sessionOf = (entries: readonly Entry[], problem?: string): Session => ({
  journal: entries.map((entry, at) => ({ ...entry, at })),
  recoveriesMs: [1_000, 3_000],
  ...(problem !== undefined && { problem }),
});
const fault: Entry = { what: 'fault', fault: 'backend killed' };
const lost: Entry = { what: 'accepted', run: 'a', script: 's' };

test('the table adds up the sessions of an experiment', () => {
  const row = rowOf('kills', [sessionOf([fault, lost]), sessionOf([fault])]);
  expect(tableOf([row]).split('\n').at(-1)).toBe(
    '| kills | 2 | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 2.0 s | 3.0 s |',
  );
  expect(isClean(row)).toBe(false);
});

test('the table counts an aborted session as stuck, but does not count its runs as lost', () => {
  const { verdict } = rowOf('kills', [sessionOf([fault, lost], 'timed out waiting')]);
  expect(verdict).toMatchObject({ lost: [], stuck: ['timed out waiting'] });
});

test('the table counts the kills in each step of an operation', () => {
  const struck = (step: string): Entry => ({ what: 'struck', operation: 'backup', id: 'o', step });
  const sessions = [
    sessionOf([struck('running'), struck('complete')]),
    sessionOf([struck('running')]),
  ];
  expect(strikesTableOf(sessions).split('\n').slice(2)).toEqual([
    '| backup | complete | 1 |',
    '| backup | running | 2 |',
  ]);
});

test('the table counts the outcomes of an operation', () => {
  const concluded = (outcome: string): Entry => ({
    what: 'concluded',
    operation: 'update',
    id: 'o',
    outcome,
    expected: ['succeeded'],
  });
  const sessions = [
    sessionOf([concluded('succeeded'), concluded('rolled_back')]),
    sessionOf([concluded('succeeded')]),
  ];
  expect(endsTableOf(sessions).split('\n').slice(2)).toEqual([
    '| update | rolled_back | 1 |',
    '| update | succeeded | 2 |',
  ]);
});
