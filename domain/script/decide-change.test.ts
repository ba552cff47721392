import type { ApprovalRequest } from '#domain/kernel/approval.ts';
import { changeId, groupId, repositoryId, scriptId, userId } from '#domain/testing/ids.ts';
import { given } from '#domain/testing/given.ts';
import { file, scriptCreated, scriptSource } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import type { ApproveChange, Edit, EditScript, ScriptCommand } from './commands.ts';
import { scriptAggregate } from './decide.ts';
import type { ScriptChangeRequested, ScriptEvent } from './events.ts';
import { defaultSettings } from './settings.ts';

const facts = { groupExists: true };
const id = { scriptId: scriptId() };
const change = { ...id, changeId: changeId() };
const [ada, bea] = [userId(1), userId(2)];
const expiresAt = '2026-03-08T00:00:00.000Z';
const at = '2026-03-01T00:00:00.000Z';
const request: ApprovalRequest = { requestedBy: ada, expiresAt };

const isProtected = { ...defaultSettings, protected: { run: false, save: true } };
const created = scriptCreated({ settings: isProtected });
const save: Edit = { type: 'SaveFile', ...file('main.py', 'b') };
const pinnedSave: Edit = { ...save, expectedSha256: 'a'.repeat(64) };

function edit(edits: readonly Edit[], changes: Partial<EditScript> = {}): EditScript {
  const approval = { ...request, changeId: changeId() };
  return { type: 'EditScript', ...id, edits, approval, ...changes };
}

function requested(changes: Partial<ScriptChangeRequested['data']> = {}): ScriptChangeRequested {
  const about = { ...change, scriptName: 'Report', ...request, baseVersion: 1 };
  return { type: 'ScriptChangeRequested', data: { ...about, edits: [pinnedSave], ...changes } };
}

const bob = { userId: bea, isAdministrator: false };
const approve: ApproveChange = {
  type: 'ApproveChange',
  ...change,
  revision: 1,
  edits: [pinnedSave],
  approver: bob,
  at,
};
const saved: ScriptEvent = {
  type: 'FileSaved',
  data: { ...id, version: 2, ...file('main.py', 'b') },
};
const approved: ScriptEvent = { type: 'ScriptChangeApproved', data: change };
const withdrawn: ScriptEvent = { type: 'ScriptChangeWithdrawn', data: change };
const described = (version: number): ScriptEvent => ({
  type: 'ScriptChanged',
  data: { ...id, version, description: 'New.' },
});

describe('an edit to a protected script', () => {
  test('becomes an approval request', () => {
    given(scriptAggregate, created)
      .when(edit([save]), facts)
      .thenRecords(requested());
  });

  test.each<ScriptCommand>([
    { type: 'SaveFile', ...id, ...file('main.py', 'b') },
    { type: 'DeleteFile', ...id, path: 'main.py' },
    { type: 'MoveFile', ...id, path: 'main.py', to: 'other.py' },
    { type: 'RestoreFiles', ...id, restoredVersion: 1, files: [], entrypoint: 'main.py' },
    { type: 'ChangeScript', ...id, settings: { entrypoint: 'other.py' } },
    { type: 'ChangeScript', ...id, settings: { resolution: 'second' } },
    { type: 'ChangeScript', ...id, groupId: groupId(2) },
  ])('is refused without an approval request: $type', (command) => {
    given(scriptAggregate, created).when(command, facts).thenRefuses('approval_required');
  });

  test('requires no approval if it does not change what the script does', () => {
    given(scriptAggregate, created)
      .when(edit([{ type: 'ChangeScript', description: 'New.', settings: isProtected }]), facts)
      .thenRecords(described(2));
    given(scriptAggregate, created)
      .when(edit([{ type: 'SaveFile', ...file('main.py', 'a') }]), facts)
      .thenRecordsNothing();
  });

  test('is refused if it cannot be applied to the current version', () => {
    given(scriptAggregate, created)
      .when(edit([{ type: 'DeleteFile', path: 'none.py' }]), facts)
      .thenRefuses('not_found');
    given(scriptAggregate, created)
      .when(edit([{ ...save, expectedSha256: 'c'.repeat(64) }]), facts)
      .thenRefuses('version_mismatch');
    given(scriptAggregate, created)
      .when(edit([save], { expectedVersion: 2 }), facts)
      .thenRefuses('version_mismatch');
  });

  test('is recorded in the request with only the changed settings', () => {
    const settings = { ...isProtected, entrypoint: 'other.py' };
    const edits: Edit[] = [{ type: 'ChangeScript', settings: { entrypoint: 'other.py' } }];
    given(scriptAggregate, created)
      .when(edit([{ type: 'ChangeScript', name: 'Report', settings }]), facts)
      .thenRecords(requested({ edits }));
  });

  test('is added to the pending change of its requester', () => {
    const other: Edit = { type: 'SaveFile', ...file('new.py', 'd') };
    const revised = (edits: readonly Edit[]): ScriptEvent => ({
      type: 'ScriptChangeRevised',
      data: { ...change, baseVersion: 1, revision: 2, edits, expiresAt },
    });
    given(scriptAggregate, created, requested())
      .when(edit([other]), facts)
      .thenRecords(revised([pinnedSave, { ...other, expectedSha256: null }]));
    const again: Edit = { type: 'SaveFile', ...file('main.py', 'c') };
    given(scriptAggregate, created, requested())
      .when(edit([{ ...again, expectedSha256: 'a'.repeat(64) }]), facts)
      .thenRecords(revised([{ ...again, expectedSha256: 'a'.repeat(64) }]));
    const approval = { requestedBy: bea, expiresAt, changeId: changeId(2) };
    given(scriptAggregate, created, requested())
      .when(edit([save], { approval }), facts)
      .thenRecords(requested({ changeId: changeId(2), requestedBy: bea }));
  });

  test("from a repository replaces the repository's pending change", () => {
    const approval = { requestedBy: null, expiresAt, changeId: changeId(2) };
    const before = requested({ requestedBy: null });
    const edits: Edit[] = [{ type: 'SaveFile', ...file('new.py', 'd'), expectedSha256: null }];
    given(scriptAggregate, created, before)
      .when(edit(edits, { approval }), facts)
      .thenRecords({
        type: 'ScriptChangeRevised',
        data: { ...change, baseVersion: 1, revision: 2, edits, expiresAt },
      });
  });

  test('from a commit that changes only other scripts leaves the pending change and its commit unchanged', () => {
    const later = '2026-04-01T00:00:00.000Z';
    const approval = { requestedBy: null, expiresAt: later, changeId: changeId(2) };
    const from = (commit: string, path = 'scripts/report'): Edit => {
      const source = { ...scriptSource(), path, commit };
      return { type: 'SetScriptSource', repositoryId: repositoryId(), source };
    };
    const edits = [pinnedSave, from('first')];
    const before = requested({ requestedBy: null, edits });
    const revised = (baseVersion: number, all: readonly Edit[]): ScriptEvent => ({
      type: 'ScriptChangeRevised',
      data: { ...change, baseVersion, revision: 2, edits: all, expiresAt: later },
    });
    const again = edit([save, from('second')], { approval });
    given(scriptAggregate, created, before).when(again, facts).thenRecordsNothing();
    given(scriptAggregate, created, before, described(2))
      .when(again, facts)
      .thenRecords(revised(2, edits));
    const moved = from('second', 'scripts/other');
    given(scriptAggregate, created, before)
      .when(edit([save, moved], { approval }), facts)
      .thenRecords(revised(1, [pinnedSave, moved]));
  });

  test("from a repository withdraws the repository's pending change if the edit requires no approval", () => {
    const approval = { requestedBy: null, expiresAt, changeId: changeId(2) };
    const ofRepository = given(scriptAggregate, created, requested({ requestedBy: null }));
    const present: Edit = { type: 'SaveFile', ...file('main.py', 'a') };
    for (const edits of [[], [present]]) {
      ofRepository.when(edit(edits, { approval }), facts).thenRecords(withdrawn);
      given(scriptAggregate, created, requested())
        .when(edit(edits, { approval }), facts)
        .thenRecordsNothing();
    }
    const described: Edit = { type: 'ChangeScript', description: 'New.' };
    ofRepository.when(edit([described], { approval }), facts).thenRecords(withdrawn, {
      type: 'ScriptChanged',
      data: { ...id, version: 2, description: 'New.' },
    });
    const edits: Edit[] = [{ type: 'RestoreScript' }];
    const deleted: ScriptEvent = { type: 'ScriptDeleted', data: id };
    given(scriptAggregate, created, deleted, requested({ requestedBy: null, edits }))
      .when(edit([], { approval }), facts)
      .thenRecords(withdrawn);
  });
});

describe('a pending change', () => {
  const pending = given(scriptAggregate, created, requested());

  test('is applied when another user approves it', () => {
    pending.when(approve, facts).thenRecords(approved, saved);
  });

  test('cannot be approved by its requester unless no other user can approve it', () => {
    const own = { ...approve, approver: { userId: ada, isAdministrator: true } };
    pending.when(own, { ...facts, otherApprover: true }).thenRefuses('forbidden');
    pending.when(own, { ...facts, otherApprover: false }).thenRecords(approved, saved);
  });

  test('of an unknown requester can be approved or rejected only by administrators', () => {
    const unknown = given(scriptAggregate, created, requested({ requestedBy: null }));
    unknown.when(approve, facts).thenRefuses('forbidden');
    const reject = { ...approve, type: 'RejectChange' } as const;
    unknown.when(reject, facts).thenRefuses('forbidden');
    const approver = { userId: bea, isAdministrator: true };
    unknown.when({ ...approve, approver }, facts).thenRecords(approved, saved);
  });

  test('can be approved or rejected only once', () => {
    given(scriptAggregate, created, requested(), approved, saved)
      .when(approve, facts)
      .thenRefuses('approval_not_pending');
  });

  test('cannot be approved if the script or the change was modified after the review', () => {
    given(scriptAggregate, created, requested(), described(2))
      .when(approve, facts)
      .thenRefuses('approval_outdated');
    pending.when({ ...approve, revision: 2 }, facts).thenRefuses('version_mismatch');
  });

  test('cannot be approved if its target group was deleted', () => {
    const edits: Edit[] = [{ type: 'ChangeScript', groupId: groupId(2) }];
    given(scriptAggregate, created, requested({ edits }))
      .when({ ...approve, edits }, { groupExists: false })
      .thenRefuses('validation_failed');
  });

  test('can be rebased unless the script and the change modify the same file', () => {
    const rebase = { type: 'RebaseChange', ...change, expiresAt, at } as const;
    pending.when(rebase, facts).thenRecordsNothing();
    const outdated = given(scriptAggregate, created, requested(), described(2));
    outdated.when(rebase, facts).thenRecords({
      type: 'ScriptChangeRevised',
      data: { ...change, baseVersion: 2, revision: 2, edits: [pinnedSave], expiresAt },
    });
    const other = requested({ changeId: changeId(2), requestedBy: bea });
    given(scriptAggregate, created, requested(), other, approved, saved)
      .when({ ...rebase, changeId: changeId(2) }, facts)
      .thenRefuses('approval_outdated');
  });

  test('can be rejected by another user, or withdrawn by its requester', () => {
    const reject = { ...approve, type: 'RejectChange' } as const;
    pending.when(reject, facts).thenRecords({ type: 'ScriptChangeRejected', data: change });
    const approver = { userId: ada, isAdministrator: false };
    pending.when({ ...reject, approver }, facts).thenRecords(withdrawn);
  });

  test('expires after its expiry time', () => {
    const expire = { type: 'ExpireChange', ...change, at } as const;
    pending.when(expire, facts).thenRecordsNothing();
    pending
      .when({ ...expire, at: expiresAt }, facts)
      .thenRecords({ type: 'ScriptChangeExpired', data: change });
    pending.when({ ...approve, at: expiresAt }, facts).thenRefuses('approval_not_pending');
  });

  test('is withdrawn when its script is deleted', () => {
    pending
      .when({ type: 'DeleteScript', ...id }, facts)
      .thenRecords(withdrawn, { type: 'ScriptDeleted', data: id });
  });

  test('stays pending after the protection was removed', () => {
    const off = { protected: { run: false, save: false } };
    const unprotected: ScriptEvent = {
      type: 'ScriptChanged',
      data: { ...id, version: 2, settings: off },
    };
    given(scriptAggregate, created, requested(), unprotected)
      .when({ type: 'SaveFile', ...id, ...file('main.py', 'c') }, facts)
      .thenRecords({ type: 'FileSaved', data: { ...id, version: 3, ...file('main.py', 'c') } });
    given(scriptAggregate, created, requested(), unprotected)
      .when(approve, facts)
      .thenRefuses('approval_outdated');
  });
});

describe('a deleted protected script', () => {
  const deleted: ScriptEvent = { type: 'ScriptDeleted', data: id };
  const edits: Edit[] = [{ type: 'RestoreScript' }];

  test('is restored when the change is approved', () => {
    const gone = given(scriptAggregate, created, deleted);
    gone.when({ type: 'RestoreScript', ...id }, facts).thenRefuses('approval_required');
    gone.when(edit(edits), facts).thenRecords(requested({ edits }));
    gone.when(edit([save]), facts).thenRefuses('not_found');
    given(scriptAggregate, created, deleted, requested({ edits }))
      .when({ ...approve, edits }, facts)
      .thenRecords(approved, { type: 'ScriptRestored', data: id });
  });

  test('loses its pending changes when it is purged', () => {
    given(scriptAggregate, created, deleted, requested({ edits }))
      .when({ type: 'PurgeScript', ...id }, facts)
      .thenRecords(withdrawn, { type: 'ScriptPurged', data: id });
  });
});

test('a repository cannot remove a protection without an approval', () => {
  const own = { repositoryId: repositoryId() };
  const protectedRuns = scriptCreated({
    settings: { ...defaultSettings, protected: { run: true, save: false } },
  });
  const settings = { protected: { run: false, save: false } };
  const edits: Edit[] = [{ type: 'ChangeScript', ...own, settings }];
  const approval = { requestedBy: null, expiresAt, changeId: changeId() };
  given(scriptAggregate, protectedRuns)
    .when(edit(edits, { approval }), facts)
    .thenRecords(requested({ requestedBy: null, edits }));
});

test('a commit becomes the source of a script when its change is approved', () => {
  const source = scriptSource();
  const own = { repositoryId: repositoryId() };
  const edits: Edit[] = [
    { ...pinnedSave, ...own },
    { type: 'SetScriptSource', ...own, source },
  ];
  given(scriptAggregate, created, requested({ requestedBy: null, edits }))
    .when({ ...approve, edits, approver: { userId: bea, isAdministrator: true } }, facts)
    .thenRecords(approved, saved, { type: 'ScriptSourceChanged', data: { ...id, source } });
});
