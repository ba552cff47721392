import { describe, expect, test } from 'vitest';
import { draftOf, inputOf } from './draft.ts';

describe('the repository form', () => {
  test('has defaults for a new repository', () => {
    const draft = { ...draftOf(null), name: ' Jobs ', url: 'https://git.example.com/jobs.git ' };
    expect(inputOf(draft)).toEqual({
      name: 'Jobs',
      url: 'https://git.example.com/jobs.git',
      branch: 'main',
      folder: '',
      poll_seconds: 60,
      mode: 'read',
      write_branch: null,
      credential: null,
    });
  });

  test('sends only the credential of the chosen kind', () => {
    const draft = { ...draftOf(null), token: 'secret', privateKey: 'key' };
    expect(inputOf({ ...draft, kind: 'token' }).credential).toEqual({
      kind: 'token',
      username: 'git',
      token: 'secret',
    });
    expect(inputOf({ ...draft, kind: 'keep' })).not.toHaveProperty('credential');
  });

  test('sends the branch for changes only if changes are written back', () => {
    const draft = { ...draftOf(null), writeBranch: ' changes ' };
    expect(inputOf(draft)).toMatchObject({ mode: 'read', write_branch: null });
    expect(inputOf({ ...draft, mode: 'write_back' })).toMatchObject({ write_branch: 'changes' });
  });

  test('sends null as the interval if polling is off, and removes slashes around the folder', () => {
    const draft = { ...draftOf(null), pollSeconds: ' ', folder: '/deploy/' };
    expect(inputOf(draft)).toMatchObject({ poll_seconds: null, folder: 'deploy' });
  });
});
