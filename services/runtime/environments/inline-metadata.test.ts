import { describe, expect, test } from 'vitest';
import { readInlineMetadata } from './inline-metadata.ts';
import { isWantedPython } from './python-versions.ts';

const read = (text: string) => readInlineMetadata(text, 'main.py');

describe('inline metadata', () => {
  test("lists the script's requirements and Python version", () => {
    const text = `#!/usr/bin/env python3
# Another comment.

# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "requests<3",  # for now
#   'rich',
# ]
#
# [tool.other]
# x = 1
# ///

import requests
`;
    expect(read(text)).toEqual({
      status: 'found',
      requirements: 'requests<3\nrich\n',
      requiresPython: '>=3.11',
    });
  });

  test('can be empty, with any line endings', () => {
    const empty = { status: 'found', requirements: '', requiresPython: undefined };
    expect(read('# /// script\n# ///\n')).toEqual(empty);
    expect(read('# /// script\r\n# dependencies = []\r\n# ///\r\n')).toEqual(empty);
  });

  test.each([
    '',
    'print("# /// script")\n',
    '# /// other\n# dependencies = ["a"]\n# ///\n',
    '# /// script\n# dependencies = ["a"]\n',
    '# /// script\n# dependencies = ["a"]\n\n# ///\n',
    '  # /// script\n  # dependencies = ["a"]\n  # ///\n',
  ])('is not found in %j', (text) => {
    expect(read(text)).toEqual({ status: 'none' });
  });

  test('ends at the last closing line of the comment block', () => {
    const text = '# /// script\n# ///\n# dependencies = []\n# ///\n';
    expect(read(text)).toMatchObject({ status: 'invalid' });
  });

  test.each([
    ['# /// script\n# dependencies = [\n# ///\n', 'not valid TOML'],
    ['# /// script\n# dependencies = "a"\n# ///\n', '"dependencies"'],
    ['# /// script\n# dependencies = ["--index-url=x"]\n# ///\n', '"dependencies"'],
    ['# /// script\n# dependencies = ["a\\n-e ."]\n# ///\n', '"dependencies"'],
    ['# /// script\n# requires-python = 3\n# ///\n', '"requires-python"'],
    ['# /// script\n# ///\n\n# /// script\n# ///\n', 'more than once'],
  ])('is refused with a reason: %j', (text, reason) => {
    const result = read(text);
    expect(result.status).toBe('invalid');
    expect(JSON.stringify(result)).toContain(JSON.stringify(reason).slice(1, -1));
  });
});

describe('a Python version specifier', () => {
  test.each([
    ['>=3.11', '3.11.7', true],
    ['>=3.12', '3.11.7', false],
    ['>=3.9,<4', '3.14.0', true],
    ['>3.11.7', '3.11.7', false],
    ['<=3.11', '3.11.7', false],
    ['==3.11.*', '3.11.7', true],
    ['==3.11', '3.11.7', false],
    ['===3.11.7', '3.11.7', true],
    ['!=3.11.*', '3.11.7', false],
    ['~=3.9', '3.14.0', true],
    ['~=3.9.1', '3.10.0', false],
    ['', '3.11.7', true],
  ])('follows PEP 440: whether %j includes %s is %j', (wanted, version, expected) => {
    expect(isWantedPython(wanted, version)).toBe(expected);
  });

  test.each(['3.11', '>=three', '~=3', '>=3.11; x'])(
    'is refused if it is invalid: %j',
    (wanted) => {
      expect(isWantedPython(wanted, '3.11.7')).toBeUndefined();
    },
  );
});
