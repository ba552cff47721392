import { describe, expect, test } from 'vitest';
import { environmentKey, type KeyParts } from './environment-key.ts';
import { readIndexSettings } from './index-settings.ts';
import { readRequirements } from './requirements.ts';

const interpreter = {
  executable: '/usr/bin/python3.12',
  version: '3.12.1',
  libraryName: 'python3.12',
  platform: 'Linux-x86_64-cpython-312',
  prefixes: ['/usr'],
};

function keyOf(requirements: string, changes: Partial<KeyParts> = {}): string {
  return environmentKey({
    requirements: readRequirements(requirements),
    interpreter,
    settings: readIndexSettings({}),
    scriptId: 's1',
    projectVersion: '1',
    resolution: undefined,
    lock: undefined,
    ...changes,
  });
}

describe('the key of an environment', () => {
  test('is the same for all scripts with equal requirements', () => {
    expect(keyOf('a\nb')).toBe(keyOf('# x\nb\na\n', { scriptId: 's2', projectVersion: '2' }));
  });

  test.each<[string, Partial<KeyParts>]>([
    ['the interpreter', { interpreter: { ...interpreter, version: '3.12.2' } }],
    [
      'the path of the interpreter',
      { interpreter: { ...interpreter, executable: '/opt/python3.12' } },
    ],
    ['the platform', { interpreter: { ...interpreter, platform: 'Linux-aarch64-cpython-312' } }],
    [
      'the package index',
      { settings: readIndexSettings({ PIP_INDEX_URL: 'http://localhost/simple' }) },
    ],
    ['the locked packages', { resolution: '2' }],
  ])('changes with %s', (_what, changes) => {
    expect(keyOf('a', changes)).not.toBe(keyOf('a'));
  });

  test('does not depend on the package index if there are no packages', () => {
    const settings = readIndexSettings({ UV_INDEX: 'http://localhost/simple' });
    expect(keyOf('', { settings, scriptId: 's2', resolution: '2' })).toBe(keyOf('# none'));
  });

  test.each([
    '-e .',
    './lib',
    'a @ https://example.com/a.whl',
    '--index-url http://localhost/x\na',
  ])(
    'is specific to one script and one version of its files for the requirement %j',
    (requirements) => {
      const own = keyOf(requirements);
      expect(keyOf(requirements)).toBe(own);
      expect(keyOf(requirements, { scriptId: 's2' })).not.toBe(own);
      expect(keyOf(requirements, { projectVersion: '2' })).not.toBe(own);
    },
  );
});
