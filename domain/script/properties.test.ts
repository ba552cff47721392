import { scriptCommand } from '#domain/testing/arbitraries.ts';
import { fold } from '#domain/testing/given.ts';
import { ends, steps } from '#domain/testing/steps.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scriptAggregate } from './decide.ts';
import type { ScriptEvent } from './events.ts';
import { pathProblem } from './path.ts';
import { maxFileBytes } from './settings.ts';
import { storageUsedBytes, type ScriptState } from './state.ts';

type Present = Extract<ScriptState, { status: 'present' }>;

describe('whatever is done to scripts', () => {
  test('the version is 1 at first, and one more for every change', () => {
    everyHistory((history) => {
      const versions = history.flatMap((event) => versionOf(event) ?? []);
      expect(versions).toEqual(versions.map((_, index) => index + 1));
    });
  });

  test('the files fit the quota in force whenever one is saved', () => {
    everySave((script) => {
      const used = storageUsedBytes(script.files.values());
      expect(used).toBeLessThanOrEqual(script.settings.storageQuotaBytes);
    });
  });

  test('no file is larger than a file may be', () => {
    everySave((script) => {
      for (const { sizeBytes } of script.files.values()) {
        expect(sizeBytes).toBeLessThanOrEqual(maxFileBytes);
      }
    });
  });

  test('the files can lie in one folder together', () => {
    everySave((script) => {
      const paths = [...script.files.keys()];
      expect(paths.map(pathProblem)).toEqual(paths.map(() => undefined));
      for (const path of paths) {
        expect(paths.filter((other) => other.startsWith(`${path}/`))).toEqual([]);
      }
    });
  });

  test('it begins with its creation, and nothing follows its deletion', () => {
    everyHistory((history) => {
      const types = history.map((event) => event.type);
      expect(types.lastIndexOf('ScriptCreated')).toBe(types.length === 0 ? -1 : 0);
      const deletion = types.indexOf('ScriptDeleted');
      expect(deletion === -1 || deletion === types.length - 1).toBe(true);
    });
  });
});

function everyHistory(check: (history: readonly ScriptEvent[]) => void): void {
  const asked = fc.array(fc.tuple(scriptCommand, fc.constant({ groupExists: true })), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(asked, (all) => {
      for (const { history } of ends(steps(scriptAggregate, all))) check(history);
    }),
    { numRuns: 100 },
  );
}

/** Checks each state that a change of files has left. */
function everySave(check: (script: Present) => void): void {
  everyHistory((history) => {
    for (const [index, event] of history.entries()) {
      if (event.type !== 'ScriptCreated' && event.type !== 'FileSaved') continue;
      check(fold(scriptAggregate, history.slice(0, index + 1)) as Present);
    }
  });
}

function versionOf(event: ScriptEvent): number | undefined {
  switch (event.type) {
    case 'ScriptCreated':
      return 1;
    case 'ScriptChanged':
    case 'FileSaved':
      return event.data.version;
    case 'ScriptEnabled':
    case 'ScriptDisabled':
    case 'ScriptDeleted':
      return undefined;
  }
}
