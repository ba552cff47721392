import { sessionCommand } from '#domain/testing/arbitraries.ts';
import { ends, steps } from '#domain/testing/steps.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sessionAggregate } from './decide.ts';

const asked = fc.array(fc.tuple(sessionCommand, fc.constant(undefined)), {
  maxLength: 25,
  size: 'max',
});

describe('whatever is done to sessions', () => {
  test('nothing comes after the end', () => {
    fc.assert(
      fc.property(asked, (all) => {
        for (const { history } of ends(steps(sessionAggregate, all))) {
          const end = history.findIndex((event) => event.type === 'SessionClosed');
          expect(end === -1 || end === history.length - 1).toBe(true);
        }
      }),
    );
  });

  test('only the token that was given out last is traded', () => {
    fc.assert(
      fc.property(asked, (all) => {
        const given = new Map<string, string>();
        for (const { command, streamId, decision } of steps(sessionAggregate, all)) {
          for (const event of decision.kind === 'accepted' ? decision.events : []) {
            if (event.type === 'SessionRefreshed' && command.type === 'RefreshSession') {
              expect(command.presentedHash).toBe(given.get(streamId));
            }
            if (event.type !== 'SessionClosed') given.set(streamId, event.data.refreshHash);
          }
        }
      }),
    );
  });
});
