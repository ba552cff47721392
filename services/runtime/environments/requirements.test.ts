import { cpuMsOf } from '#infra/testing/cpu-time.ts';
import { describe, expect, test } from 'vitest';
import { readRequirements } from './requirements.ts';

describe('requirements', () => {
  test.each(['', '\n\n', '# nothing\n   # at all\n', '\ufeff# nothing', ' \r\n'])(
    'are empty for the text %j',
    (text) => {
      expect(readRequirements(text)).toEqual({ kind: 'none' });
    },
  );

  test('have the same canonical form if only their notation differs', () => {
    const one = 'six == 1.17.0   # pinned\r\nrequests[socks]>=2,<3\n\n# end\nsix == 1.17.0';
    const other = 'requests[socks]>=2,<3\n\nsix  ==  1.17.0\n';
    expect(readRequirements(one)).toEqual(readRequirements(other));
    expect(readRequirements(one)).toEqual({
      kind: 'shared',
      text: 'requests[socks]>=2,<3\nsix == 1.17.0\n',
    });
  });

  test.each([
    'six',
    'zope.interface',
    'a-b_c.d',
    'six (==1.17.0)',
    'torch==2.1.0+cpu',
    'six==1.*',
    'six~=1.0; python_version < "3.9" and sys_platform == \'linux\'',
    'six==1.17.0 \\\n  --hash=sha256:4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274',
  ])('can share an environment: %j', (text) => {
    expect(readRequirements(text).kind).toBe('shared');
  });

  test.each([
    '-e .',
    '--editable=./lib',
    '.',
    './lib',
    '../other',
    '/opt/lib',
    'file:///opt/lib',
    'lib/',
    'lib.whl',
    'lib-1.0.tar.gz',
    'lib @ https://example.com/lib.whl',
    'git+https://example.com/lib.git',
    'https://example.com/lib.zip',
    '-r other.txt',
    '-c constraints.txt',
    '-i https://example.com/simple',
    '--index-url https://example.com/simple',
    '--extra-index-url=https://example.com/simple',
    '--find-links /opt/wheels',
    '-f wheels',
    '--no-binary :all:',
    '--pre',
    'six==${VERSION}',
    'six --config-settings=a=b',
    'six; python_version > "3" --global-option="x"',
    'six --hash=sha256:00 --pre',
    'a\\b',
  ])('never share an environment, even together with shareable requirements: %j', (text) => {
    expect(readRequirements(text)).toEqual({ kind: 'private', text });
    const among = `six\n${text}\nrequests\n`;
    expect(readRequirements(among)).toEqual({ kind: 'private', text: among });
  });

  test('are parsed quickly even if their text is hostile', () => {
    const hostile = [
      `a${'-'.repeat(50_000)}`,
      `a==1${',==1'.repeat(20_000)}!`,
      `a;${' '.repeat(50_000)}@`,
      `a${' '.repeat(50_000)}@`,
      `a${'.a'.repeat(50_000)}@`,
    ];
    expect(cpuMsOf(() => hostile.forEach((text) => readRequirements(text)))).toBeLessThan(2_000);
  });
});
