import { scriptCommand } from '#domain/testing/arbitraries.ts';
import { fold } from '#domain/testing/given.ts';
import { scriptId } from '#domain/testing/ids.ts';
import { scriptCreated } from '#domain/testing/samples.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ScriptCommand } from './commands.ts';
import { scriptAggregate } from './decide.ts';
import type { ScriptEvent } from './events.ts';
import { codeSettings, defaultSettings, type ScriptSettings } from './settings.ts';
import type { ScriptState } from './state.ts';

const facts = { groupExists: true };
const isProtected = { ...defaultSettings, protected: { run: false, save: true } };

describe('protected scripts after any sequence of commands', () => {
  test('execute changed code only after an approval', () => {
    everyStep(({ before, after, events }) => {
      if (before.status === 'absent' || after.status !== 'present') return;
      if (!before.settings.protected.save) return;
      const isChanged = JSON.stringify(codeOf(before)) !== JSON.stringify(codeOf(after));
      if (isChanged) expect(events[0]?.type).toBe('ScriptChangeApproved');
    });
  });

  test('have at most one pending change per requester, which no run executes', () => {
    everyStep(({ before, after, events }) => {
      if (before.status === 'absent' || after.status === 'absent') return;
      const requesters = [...after.changes.values()].map(({ requestedBy }) => requestedBy);
      expect(new Set(requesters).size).toBe(requesters.length);
      const isRequest = events.some(({ type }) => /^ScriptChangeRe(quested|vised)$/.test(type));
      if (isRequest) expect(codeOf(after)).toEqual(codeOf(before));
    });
  });

  test('match the approved requests exactly', () => {
    everyStep(({ before, after, events, command }) => {
      if (events[0]?.type !== 'ScriptChangeApproved' || command.type !== 'ApproveChange') return;
      if (before.status === 'absent' || after.status === 'absent') return;
      const { baseVersion, edits = [] } = before.changes.get(command.changeId) ?? {};
      expect(baseVersion).toBe(before.version);
      for (const one of edits) {
        const later = edits.slice(edits.indexOf(one) + 1);
        if (one.type !== 'SaveFile' || later.length > 0) continue;
        expect(after.files.get(one.path)?.sha256).toBe(one.sha256);
      }
    });
  });
});

/** Returns the fields that make up the code of a script. The source is omitted, because it only identifies the
 *  commit. */
function codeOf(state: Exclude<ScriptState, { status: 'absent' }>) {
  const { groupId: group, settings, files, status } = state;
  const names = Object.keys(codeSettings) as (keyof ScriptSettings)[];
  return {
    group,
    runnable: status === 'present',
    settings: names.filter((name) => codeSettings[name]).map((name) => settings[name]),
    files: [...files.values()].map(({ path, sha256 }) => `${path} ${sha256}`).toSorted(),
  };
}

interface TestStep {
  readonly command: ScriptCommand;
  readonly before: ScriptState;
  readonly after: ScriptState;
  readonly events: readonly ScriptEvent[];
}

function everyStep(check: (step: TestStep) => void): void {
  const commands = fc.array(scriptCommand, { maxLength: 40, size: 'max' });
  fc.assert(
    fc.property(commands, (all) => {
      let version = 1;
      let before = fold(scriptAggregate, [scriptCreated({ settings: isProtected })]);
      for (const one of all) {
        const command = { ...one, scriptId: scriptId() };
        const decision = scriptAggregate.decide(before, command, { ...facts, otherApprover: true });
        if (decision.kind === 'refused') continue;
        const { events } = decision;
        const after = events.reduce(
          (state, event) => scriptAggregate.evolve(state, event, (version += 1)),
          before,
        );
        check({ command, before, after, events });
        before = after;
      }
    }),
    { numRuns: 100 },
  );
}
