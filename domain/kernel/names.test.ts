import { userAggregate } from '#domain/user/decide.ts';
import { scriptAggregate } from '#domain/script/decide.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { given } from '#domain/testing/given.ts';
import { scriptId } from '#domain/testing/ids.ts';
import { createScript, createUser, file } from '#domain/testing/samples.ts';
import { describe, expect, test } from 'vitest';
import { emailProblem, nameProblem, newNameProblem, newPathProblem } from './names.ts';

describe('a valid name', () => {
  test.each([
    'Nightly report',
    'Übersicht №5',
    'تقرير يومي',
    'می\u200cخواهم',
    'क्\u200dष',
    '👩\u200d🔬 laboratory',
    '❤\ufe0f',
    '👍🏽',
    '報告書',
    'a.py',
  ])('may be %j', (name) => {
    expect(nameProblem(name)).toBeUndefined();
  });

  test.each([
    ['\u202e', /direction-changing character \(U\+202E\)/],
    ['\u200b', /invisible .* \(U\+200B\)/],
    ['a\u200db', /\(U\+200D\)/],
    ['a\ufe0f', /\(U\+FE0F\)/],
    ['\u{e0067}', /\(U\+E0067\)/],
    ['\ufeff', /\(U\+FEFF\)/],
    ['\u00ad', /\(U\+00AD\)/],
    ['\u2800', /\(U\+2800\)/],
    ['\u2003', /unusual space \(U\+2003\)/],
    ['\u2029', /control character/],
    ['\u0085', /control character/],
    ['\u{10fffd}', /private, unassigned/],
    ['\uffff', /private, unassigned/],
    ['\ufffc', /placeholder/],
    ['\ud800', /private, unassigned/],
    ['o\u0308', /NFC/],
  ])('may not contain %j', (character, why) => {
    expect(nameProblem(`x${character}`)).toMatch(why);
  });
});

describe('a new name', () => {
  test.each([
    [' x', /begins or ends with a space/],
    ['x ', /begins or ends with a space/],
    ['x  y', /two consecutive spaces/],
    ['x\u202e', /U\+202E/],
  ])('may not be %j unless it equals the previous name', (name, why) => {
    expect(newNameProblem('name', name)).toMatch(why);
    expect(newNameProblem('name', name, name)).toBeUndefined();
  });

  test('may contain spaces anywhere in a path', () => {
    expect(newPathProblem('entrypoint', 'my  bot.py')).toBeUndefined();
    expect(newPathProblem('entrypoint', 'x\u202e')).toMatch(/U\+202E/);
  });
});

describe('an email address', () => {
  test.each(['ada@example.com', 'müller+x@beispiel.de', 'иван@пример.рф'])('may be %s', (email) => {
    expect(emailProblem(email)).toBeUndefined();
  });

  test.each([
    ['a\u202eb@example.com', /U\+202E/],
    ['ada😀@example.com', /letters, digits and ASCII/],
    ['ａda@example.com', /compatibility character/],
    ['аda@example.com', /similar-looking/],
    ['ada@exаmple.com', /similar-looking/],
  ])('may not be %s', (email, why) => {
    expect(emailProblem(email)).toMatch(why);
  });
});

describe('a name that predates the rules', () => {
  const old = 'old\u202ename';
  const { type: _, ...user } = createUser({ name: old, email: `${old}@example.com` });
  const { type: __, ...script } = createScript({
    name: old,
    files: [file(old), file('main.py')],
    settings: { ...defaultSettings, tags: [old] },
  });

  test('does not prevent changes to its account', () => {
    const { userId } = user;
    given(userAggregate, { type: 'UserCreated', data: user })
      .when(
        { type: 'ChangeUser', userId, changes: { name: old, role: 'operator' } },
        { emailTaken: false, otherAdministrator: true, identityTaken: false, keyExists: true },
      )
      .thenRecords({ type: 'UserChanged', data: { userId, role: 'operator' } });
  });

  test('does not prevent changes to its script', () => {
    const created = { type: 'ScriptCreated', data: script } as const;
    const changes = { name: old, settings: { tags: [old, 'new'] } };
    const recorded = { scriptId: scriptId(), version: 2, settings: { tags: [old, 'new'] } };
    given(scriptAggregate, created)
      .when({ type: 'ChangeScript', scriptId: scriptId(), ...changes }, { groupExists: true })
      .thenRecords({ type: 'ScriptChanged', data: recorded });
    const saved = { ...file(old, 'b'), scriptId: scriptId() };
    given(scriptAggregate, created)
      .when({ type: 'SaveFile', ...saved }, { groupExists: true })
      .thenRecords({ type: 'FileSaved', data: { ...saved, version: 2 } });
    given(scriptAggregate, created)
      .when({ type: 'ChangeScript', scriptId: scriptId(), name: `${old}!` }, { groupExists: true })
      .thenRefuses('validation_failed');
  });
});
