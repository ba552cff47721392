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

describe('scripts after any sequence of commands', () => {
  test('start at version 1, which every change increments', () => {
    everyHistory((history) => {
      const versions = history.flatMap((event) => versionOf(event) ?? []);
      expect(versions).toEqual(versions.map((_, index) => index + 1));
    });
  });

  test('have files within the quota after every save', () => {
    // Moving a file requires no additional space, so the move is accepted even if the quota was lowered.
    everySave((script) => {
      const used = storageUsedBytes(script.files.values());
      expect(used).toBeLessThanOrEqual(script.settings.storageQuotaBytes);
    }, saves);
  });

  test('have no file above the size limit', () => {
    everySave((script) => {
      for (const { sizeBytes } of script.files.values()) {
        expect(sizeBytes).toBeLessThanOrEqual(maxFileBytes);
      }
    });
  });

  test('have no files with conflicting paths', () => {
    everySave((script) => {
      const paths = [...script.files.keys()];
      expect(paths.map(pathProblem)).toEqual(paths.map(() => undefined));
      for (const path of paths) {
        expect(paths.filter((other) => other.startsWith(`${path}/`))).toEqual([]);
      }
    });
  });

  test('keep at least one file after the first save', () => {
    everyHistory((history) => {
      const counts = history.map((_, index) => {
        const state = fold(scriptAggregate, history.slice(0, index + 1));
        return state.status === 'absent' ? 0 : state.files.size;
      });
      expect(counts.some((count, index) => count === 0 && (counts[index - 1] ?? 0) > 0)).toBe(
        false,
      );
    });
  });

  test('have a history that begins with their creation, and are restored or purged only after their deletion', () => {
    everyHistory((history) => {
      const types = history.flatMap(({ type }) => (type.startsWith('ScriptChange') ? [] : type));
      expect(types.lastIndexOf('ScriptCreated')).toBe(types.length === 0 ? -1 : 0);
      for (const [index, type] of types.entries()) {
        const before = types[index - 1];
        const isAfterDeletion = type === 'ScriptRestored' || type === 'ScriptPurged';
        expect(before === 'ScriptDeleted').toBe(isAfterDeletion);
        expect(before === 'ScriptPurged').toBe(type === 'ScriptPurgeFinished');
        expect(before).not.toBe('ScriptPurgeFinished');
      }
    });
  });
});

function everyHistory(check: (history: readonly ScriptEvent[]) => void): void {
  const asked = fc.array(fc.tuple(scriptCommand, fc.constant({ groupExists: true })), {
    maxLength: 40,
    size: 'max',
  });
  fc.assert(
    fc.property(asked, (all) => {
      for (const { history } of ends(steps(scriptAggregate, all))) check(history);
    }),
    { numRuns: 100 },
  );
}

const saves: readonly string[] = ['ScriptCreated', 'FileSaved', 'FilesRestored'];

/** Checks the state after each of these events. */
function everySave(
  check: (script: Present) => void,
  types: readonly string[] = [...saves, 'FileMoved'],
): void {
  everyHistory((history) => {
    for (const [index, event] of history.entries()) {
      if (!types.includes(event.type)) continue;
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
    case 'FileDeleted':
    case 'FileMoved':
    case 'FilesRestored':
      return event.data.version;
    case 'ScriptEnabled':
    case 'ScriptDisabled':
    case 'ScriptDeleted':
    case 'ScriptRestored':
    case 'ScriptPurged':
    case 'ScriptPurgeFinished':
    case 'ScriptSourceChanged':
    case 'ScriptChangeRequested':
    case 'ScriptChangeRevised':
    case 'ScriptChangeApproved':
    case 'ScriptChangeRejected':
    case 'ScriptChangeExpired':
    case 'ScriptChangeWithdrawn':
      return undefined;
  }
}
