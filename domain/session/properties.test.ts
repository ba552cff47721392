import { sessionCommand } from '#domain/testing/arbitraries.ts';
import { ends, steps } from '#domain/testing/steps.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sessionAggregate } from './decide.ts';

const asked = fc.array(fc.tuple(sessionCommand, fc.constant(undefined)), {
  maxLength: 25,
  size: 'max',
});

describe('sessions after any sequence of commands', () => {
  test('record nothing after their end', () => {
    fc.assert(
      fc.property(asked, (all) => {
        for (const { history } of ends(steps(sessionAggregate, all))) {
          const end = history.findIndex((event) => event.type === 'SessionClosed');
          expect(end === -1 || end === history.length - 1).toBe(true);
        }
      }),
    );
  });
});
