import { describe, expect, test } from 'vitest';
import { Trial, type TrialFiles } from './trial.ts';

const copied = { folder: '/copy', madeAt: '2026-11-22T00:00:00.000Z', sizeBytes: 1 };
const asked: TrialFiles = { wanted: { isTried: false }, outcome: undefined };
const tried: TrialFiles = { wanted: { isTried: true, copied }, outcome: undefined };
const triedWithoutCopy: TrialFiles = { wanted: { isTried: true }, outcome: undefined };
const ended = (kind: 'succeeded' | 'rolled_back'): TrialFiles => ({
  wanted: undefined,
  outcome: { kind },
});
const nothing: TrialFiles = { wanted: undefined, outcome: undefined };

function noted(...files: readonly TrialFiles[]): readonly string[] {
  const trial = new Trial('u');
  return files.flatMap((each, at) => trial.follow(each).map(({ what }) => `${at} ${what}`));
}

describe('the data that a rollback may lose', () => {
  test('is the data acknowledged during the trial of the new release', () => {
    const all = [nothing, asked, tried, tried, ended('rolled_back'), nothing];
    expect(noted(...all)).toEqual(['2 marked', '4 returning', '4 returned']);
  });

  test('includes all data until the end of the trial, even if the outcome was recorded earlier', () => {
    const recording = { ...tried, outcome: { kind: 'rolled_back' } } as const;
    const all = [tried, recording, ended('rolled_back'), ended('rolled_back')];
    expect(noted(...all)).toEqual(['0 marked', '2 returning', '2 returned']);
  });

  test.each([
    ['after a trial without a copy of the database', [triedWithoutCopy, ended('rolled_back')]],
    ['if the trial never began', [asked, nothing]],
  ])('is empty %s', (_name, files) => {
    expect(noted(...files)).toEqual([]);
  });

  test('is empty if the update succeeds', () => {
    expect(noted(tried, ended('succeeded'), ended('rolled_back'))).toEqual(['0 marked']);
  });
});

describe('the expected outcome of an update', () => {
  test.each<[string, boolean, readonly TrialFiles['wanted'][], string]>([
    ['good release', true, [], 'succeeded'],
    ['good release, killed before the restart', true, [undefined], 'succeeded'],
    ['good release, killed before its trial', true, [asked.wanted], 'succeeded'],
    ['good release, killed during its trial', true, [undefined, tried.wanted], 'rolled_back'],
    ['good release, killed after its trial', true, [{ isTried: true, isWell: true }], 'succeeded'],
    ['broken release', false, [], 'rolled_back'],
  ])('is "$3" for a $0', (_name, isGood, kills, ending) => {
    const trial = new Trial('u');
    for (const wanted of kills) trial.noteKill(wanted);
    expect(trial.expected(isGood)).toBe(ending);
  });
});
