/** Compares secret forms with the output of real interpreters. */
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { listPythons } from '../sandbox/python.ts';
import { Masker } from './masker.ts';

const pythons = await listPythons(process.env['PATH'] ?? '');

/** Prints each value in several ways, as JSON. */
const program = `
import html, json, sys, urllib.parse

def shown(value):
    data = value.encode()
    both = '"' + "'" + value
    return [
        repr(value), repr("'" + value), repr('"' + value), repr(both),
        ascii(value), ascii("'" + value), ascii(both),
        repr(data), repr(b"'" + data), repr(both.encode()),
        str({"key": value}), str(KeyError(value)), repr(ValueError(value)),
        json.dumps(value), json.dumps(value, ensure_ascii=False),
        value.encode("ascii", "backslashreplace").decode(),
        value.encode("unicode_escape").decode(),
        urllib.parse.quote(value), urllib.parse.quote(value, safe=""), urllib.parse.quote_plus(value),
        urllib.parse.quote("https://host/" + value, safe="!#$%&'()*+,/:;=?@[]~"),
        html.escape(value), html.escape(value, quote=False),
    ]

print(json.dumps([shown(value) for value in json.load(sys.stdin)]))
`;

/** The text that must remain around or after the mask in each output. */
const surroundings =
  /^(?:b?['"]{0,1}(?:\\?['"]){0,2}|\{'key': ['"]|ValueError\(['"]|https:\/\/host\/)\*\*\*['"]?[)}]?$/;

const letters = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }) },
  fc.constantFrom("'", '"', '\\', '\n', '\r', '\t', '\u0001', '\u001b', '\u007f', '%', '&', '/'),
  fc.constantFrom('\u0085', '\u00a0', '\u00ad', 'ö', 'ÿ', 'ж', '\u200b', '\u2028', '\ufeff', '東'),
  fc.constantFrom('😀', '𝒳', '\u{e0001}', '\u{10ffff}'),
);
/** The masker ignores white space around a value, so values begin and end with letters. */
const values = fc
  .array(letters, { minLength: 2, maxLength: 40 })
  .map((some) => `Z${some.join('')}Q`);

test('at least one interpreter is available', () => {
  expect(pythons.length).toBeGreaterThan(0);
});

describe.each(pythons)('Python $version', ({ executable }) => {
  test('prints secrets only in forms that are masked', () => {
    const secrets = fc.sample(values, { numRuns: 500, seed: 1 });
    const { stdout } = spawnSync(executable, ['-c', program], {
      input: JSON.stringify(secrets),
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    const all = JSON.parse(stdout) as readonly (readonly string[])[];
    expect(all).toHaveLength(secrets.length);
    for (const [index, texts] of all.entries()) {
      const masker = new Masker();
      masker.add([secrets[index] ?? '']);
      for (const text of texts) expect(masker.text(text), text).toMatch(surroundings);
    }
  });
});

describe('a secret with special characters', () => {
  const secret = String.raw`it's "5\6" ö`;

  test.each([
    ['repr', String.raw`'it\'s "5\\6" ö'`],
    ['ascii', String.raw`'it\'s "5\\6" \xf6'`],
    ['bytes', String.raw`b'it\'s "5\\6" \xc3\xb6'`],
    ['JSON', String.raw`"it's \"5\\6\" ö"`],
    ['JSON in ASCII', String.raw`"it's \"5\\6\" \u00f6"`],
  ])('is masked in the form %s, however the output is split', (_name, text) => {
    const bytes = Buffer.from(`before ${text} after`);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const masker = new Masker();
      masker.add([secret]);
      const stream = masker.stream();
      const out = [stream.push(bytes.subarray(0, cut)), stream.push(bytes.subarray(cut))];
      const shown = Buffer.concat([...out, stream.end()]).toString();
      expect(shown).toMatch(/^before b?['"]\*\*\*['"] after$/);
    }
  });

  test('is masked line by line in the form repr', () => {
    const lines = ["the first line isn't short", String.raw`the second has a \ in it`];
    const masker = new Masker();
    masker.add([lines.join('\n')]);
    expect(masker.text(String.raw`"the first line isn't short", 'the second has a \\ in it'`)).toBe(
      `"***", '***'`,
    );
  });
});
