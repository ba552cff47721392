import { given } from '#domain/testing/given.ts';
import { repositoryId, scriptId } from '#domain/testing/ids.ts';
import { file, scriptCreated, scriptSource, writtenSource } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import type { ScriptCommand } from './commands.ts';
import { scriptAggregate } from './decide.ts';
import type { ScriptEvent } from './events.ts';

const facts = { groupExists: true };
const id = { scriptId: scriptId() };
const created: ScriptEvent = scriptCreated();
const source = scriptSource();
const sourced: ScriptEvent = { type: 'ScriptSourceChanged', data: { ...id, source } };
const released: ScriptEvent = { type: 'ScriptSourceChanged', data: { ...id, source: null } };
const set = { type: 'SetScriptSource', ...id, repositoryId: repositoryId(), source } as const;

describe('a script from a repository', () => {
  test.each<ScriptCommand>([
    { type: 'ChangeScript', ...id, name: 'Other' },
    { type: 'SaveFile', ...id, ...file('new.py', 'b') },
    { type: 'DeleteFile', ...id, path: 'main.py' },
    { type: 'MoveFile', ...id, path: 'main.py', to: 'other.py' },
    { type: 'DeleteScript', ...id },
    { type: 'DeleteScript', ...id, repositoryId: repositoryId(2) },
    { ...set, repositoryId: repositoryId(2) },
  ])('refuses $type unless the repository sends it', (command) => {
    given(scriptAggregate, created, sourced)
      .when(command, facts)
      .thenRefuses('managed_by_repository');
  });

  test('can be changed by its repository, and disabled and enabled by users', () => {
    given(scriptAggregate, created, sourced)
      .when({ type: 'ChangeScript', ...id, name: 'Other', repositoryId: repositoryId() }, facts)
      .thenRecords({ type: 'ScriptChanged', data: { ...id, version: 2, name: 'Other' } });
    given(scriptAggregate, created, sourced)
      .when({ type: 'DisableScript', ...id }, facts)
      .thenRecords({ type: 'ScriptDisabled', data: id });
  });

  test('can have its environment rebuilt by a user', () => {
    const settings = { resolution: 'second' };
    given(scriptAggregate, created, sourced)
      .when({ type: 'ChangeScript', ...id, settings }, facts)
      .thenRecords({ type: 'ScriptChanged', data: { ...id, version: 2, settings } });
  });

  test('records each commit only once', () => {
    given(scriptAggregate, created).when(set, facts).thenRecords(sourced);
    given(scriptAggregate, created, sourced).when(set, facts).thenRecordsNothing();
  });

  test('can be edited on the platform if changes are written back as commits', () => {
    const start = { ...set, startsWriteBack: true };
    const source = writtenSource();
    const editable: ScriptEvent = { type: 'ScriptSourceChanged', data: { ...id, source } };
    given(scriptAggregate, created).when(start, facts).thenRecords(editable);
    given(scriptAggregate, created, editable).when(start, facts).thenRecordsNothing();
    given(scriptAggregate, created, editable)
      .when({ type: 'ChangeScript', ...id, name: 'Other' }, facts)
      .thenRecords({ type: 'ScriptChanged', data: { ...id, version: 2, name: 'Other' } });
    given(scriptAggregate, created, editable)
      .when({ type: 'DeleteScript', ...id }, facts)
      .thenRefuses('managed_by_repository');
    given(scriptAggregate, created, editable).when(set, facts).thenRecords(sourced);
  });

  test('can be edited by users after the repository was removed', () => {
    const release = { ...set, source: null };
    given(scriptAggregate, created, sourced).when(release, facts).thenRecords(released);
    given(scriptAggregate, created, sourced, released)
      .when({ type: 'DisableScript', ...id }, facts)
      .thenRecords({ type: 'ScriptDisabled', data: id });
    given(scriptAggregate, created, sourced, released)
      .when({ type: 'ChangeScript', ...id, name: 'Other' }, facts)
      .thenRecords({ type: 'ScriptChanged', data: { ...id, version: 2, name: 'Other' } });
  });
});
