import { anyScriptFacts, runCommand } from '#domain/testing/arbitraries.ts';
import { scriptFacts } from '#domain/testing/samples.ts';
import { ends, steps } from '#domain/testing/steps.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runAggregate } from './decide.ts';

const facts = fc.oneof(fc.constant(scriptFacts()), anyScriptFacts);
const asked = fc.array(fc.tuple(runCommand, facts), { maxLength: 40, size: 'max' });

describe('runs after any sequence of commands', () => {
  test('are queued only once, before all other events', () => {
    everyHistory((types) => {
      expect(types.lastIndexOf('RunQueued')).toBe(types.length === 0 ? -1 : 0);
    });
  });

  test('never start twice', () => {
    everyHistory((types) => {
      expect(types.filter((type) => type === 'RunStarted').length).toBeLessThanOrEqual(1);
    });
  });

  test('end at most once, and record nothing after their end', () => {
    everyHistory((types) => {
      const end = types.indexOf('RunFinished');
      expect(end === -1 || end === types.length - 1).toBe(true);
    });
  });

  test('record a stop request only while running, and only once', () => {
    everyHistory((types) => {
      const request = types.indexOf('RunStopRequested');
      expect(types.lastIndexOf('RunStopRequested')).toBe(request);
      if (request !== -1) expect(types.slice(0, request)).toContain('RunStarted');
    });
  });

  test('end only through reports with the fence from their start', () => {
    fc.assert(
      fc.property(asked, (all) => {
        for (const { command, decision, history } of steps(runAggregate, all)) {
          if (command.type !== 'FinishRun' || decision.kind === 'refused') continue;
          const start = history.findIndex((event) => event.type === 'RunStarted') + 1;
          if (decision.events.length > 0) expect(command.fence).toBe(start);
        }
      }),
    );
  });
});

function everyHistory(check: (types: readonly string[]) => void): void {
  fc.assert(
    fc.property(asked, (all) => {
      for (const { history } of ends(steps(runAggregate, all))) {
        check(history.map((event) => event.type));
      }
    }),
    { numRuns: 100 },
  );
}
