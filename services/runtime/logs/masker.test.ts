import { cpuMsOf } from '#infra/testing/cpu-time.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Masker } from './masker.ts';

const secret = 'p4ss/wörd+%1';

function masking(...values: readonly string[]): Masker {
  const masker = new Masker();
  masker.add(values);
  return masker;
}

/** Returns a stream's output for a text that arrives in these pieces. */
function streamed(masker: Masker, text: string, cuts: readonly number[]): string {
  const bytes = Buffer.from(text);
  const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length];
  const ordered = places.toSorted((one, other) => one - other);
  const stream = masker.stream();
  const out = ordered
    .slice(1)
    .map((end, index) => stream.push(bytes.subarray(ordered[index], end)));
  return Buffer.concat([...out, stream.end()]).toString();
}

describe('a secret', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  test.each([
    ['plain text', secret],
    ['base64', base64(secret)],
    ['URL-safe base64', Buffer.from(secret).toString('base64url')],
    ['URL encoding', encodeURIComponent(secret)],
    [
      'URL encoding in lower case',
      encodeURIComponent(secret).replace(/%../g, (one) => one.toLowerCase()),
    ],
    ['JSON in ASCII', 'p4ss/w\\u00f6rd+%1'],
    ['a Python bytes literal', String.raw`p4ss/w\xc3\xb6rd+%1`],
    ['URL encoding except for slashes', encodeURIComponent(secret).replaceAll('%2F', '/')],
  ])('is masked in the form %s', (_name, form) => {
    expect(masking(secret).text(`before ${form} after`)).toBe('before *** after');
  });

  test('is masked even without the white space around its value', () => {
    expect(masking(` ${secret}\n`).text(`<${secret}>`)).toBe('<***>');
  });

  test.each(['', 'u', 'us', 'user:'])(
    'is fully masked in the base64 of a text in which "%s" precedes the secret',
    (before) => {
      const shown = masking(secret).text(base64(`${before}${secret}:more`));
      expect(shown).toContain('***');
      expect(Buffer.from(shown.replace('***', ''), 'base64').toString()).not.toContain('p4ss');
    },
  );

  test('is masked in JSON, and line by line if its lines are long or part of a key', () => {
    const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nshort\n-----END KEY-----';
    const masker = masking(key);
    expect(masker.text(JSON.stringify({ key }))).toBe('{"key":"***"}');
    expect(masker.text(key.replaceAll('\n', '\n> '))).toBe('***\n> ***\n> ***\n> ***');
    const note = 'a line that is long enough\ntoo short\nand another that is long';
    expect(masking(note).text(note.replaceAll('\n', '\n> '))).toBe('***\n> too short\n> ***');
  });

  test('is masked when it is escaped for HTML', () => {
    const quoted = `"a" & 'b' < c`;
    for (const form of [
      '&quot;a&quot; &amp; &#x27;b&#x27; &lt; c',
      '&quot;a&quot; &amp; &#39;b&#39; &lt; c',
      `"a" &amp; 'b' &lt; c`,
    ]) {
      expect(masking(quoted).text(`<p>${form}</p>`)).toBe('<p>***</p>');
    }
  });

  test('is replaced by a single mask when it is repeated without a gap', () => {
    expect(masking(secret).text(secret.repeat(3))).toBe('***');
  });

  test('is masked even if another secret is too short for masking', () => {
    expect(masking('abc', 'é ').text('abc é')).toBe('abc é');
    expect(masking('abcd').text('abcd')).toBe('***');
  });

  test('is masked completely if it begins with another secret', () => {
    const masker = masking('token', 'token-and-more');
    expect(masker.text('token token-and-more')).toBe('*** ***');
    expect(streamed(masker, 'token-and-more', [5, 6, 9])).toBe('***');
  });

  test('is masked when it arrives in pieces', () => {
    const text = `a ${secret} b ${base64(secret)}\n${encodeURIComponent(secret)}p4ss`;
    fc.assert(
      fc.property(fc.array(fc.nat(90), { maxLength: 8 }), (cuts) => {
        expect(streamed(masking(secret), text, cuts)).toBe('a *** b ***\n***p4ss');
      }),
    );
  });

  test('delays output that could be the beginning of the secret', () => {
    const stream = masking(secret).stream();
    const push = (text: string) => Buffer.from(stream.push(Buffer.from(text))).toString();
    expect(push('prompt: p4ss')).toBe('prompt: ');
    expect(push('port?')).toBe('p4ssport?');
    expect(push('p4')).toBe('');
    expect(Buffer.from(stream.end()).toString()).toBe('p4');
  });
});

describe('without secrets', () => {
  test('the masker passes bytes unchanged, even if they are not text', () => {
    const bytes = Buffer.from([0xff, 0x00, 0xc3]);
    expect(new Masker().stream().push(bytes)).toBe(bytes);
    const stream = masking(secret).stream();
    expect(Buffer.concat([stream.push(bytes), stream.end()])).toEqual(bytes);
  });
});

describe('many long secrets', () => {
  test('are masked in a megabyte of similar text within seconds', () => {
    const values = [
      ...Array.from({ length: 3 }, (_, index) => `${'a'.repeat(32_000)}${index}`),
      ...Array.from({ length: 90 }, (_, index) => `secret number ${index} is ${'x'.repeat(300)}`),
    ];
    const text = `${'a'.repeat(500_000)}b${'secret number '.repeat(30_000)}`;
    const cpuMs = cpuMsOf(() => {
      expect(streamed(masking(...values), text, [100_000, 200_000, 700_000])).toContain('***');
    });
    expect(cpuMs).toBeLessThan(5_000);
  });
});
