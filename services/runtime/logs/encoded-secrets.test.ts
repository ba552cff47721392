import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Masker } from './masker.ts';

/** Breaks the text into lines of this many characters. */
function wrapped(text: string, width: number, lineBreak = '\n'): string {
  return (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join(lineBreak);
}

/** Returns a stream's masked output for a text that arrives in chunks of these lengths, repeated. */
function shown(secret: string, text: string, lengths: readonly number[]): string {
  const masker = new Masker();
  masker.add([secret]);
  const stream = masker.stream();
  const bytes = Buffer.from(text);
  const out: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const end = at + (lengths[turn % lengths.length] ?? bytes.length);
    out.push(stream.push(bytes.subarray(at, end)));
    at = end;
  }
  return Buffer.concat([...out, stream.end()]).toString();
}

/** Returns the base64 forms of a part of the secret for each alignment. Characters that also depend on adjacent
 *  bytes are omitted. */
function base64Of(part: Buffer): readonly string[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), part]).toString('base64');
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + part.length) * 8) / 6));
  });
}

const encodings: Readonly<Record<string, (bytes: Buffer) => string>> = {
  base64: (bytes) => bytes.toString('base64'),
  'base64 for addresses': (bytes) => bytes.toString('base64url'),
  hexadecimal: (bytes) => bytes.toString('hex'),
  'hexadecimal in upper case': (bytes) => bytes.toString('hex').toUpperCase(),
  'hexadecimal with colons': (bytes) => wrapped(bytes.toString('hex'), 2, ':'),
  'bytes of a C string': (bytes) => bytes.toString('hex').replace(/../g, String.raw`\x$&`),
};
const lineBreaks = [
  '\n',
  '\r\n',
  '\r',
  '\n      ',
  '\n\t> ',
  String.raw`\n`,
  String.raw`\r\n`,
  `",\n  "`,
];
/** The maximum number of consecutive secret bytes that may remain visible. */
const PROMISED_BYTES = 10;

describe('an encoded secret', () => {
  test.each(Object.entries(encodings))(
    'never reveals ten consecutive bytes as %s, for any line width and chunk size',
    (_, encode) => {
      fc.assert(
        fc.property(
          fc.string({ minLength: PROMISED_BYTES, maxLength: 120, unit: 'grapheme-ascii' }),
          fc.uint8Array({ maxLength: 5 }),
          fc.integer({ min: 1, max: 200 }),
          fc.constantFrom(...lineBreaks),
          fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 6 }),
          (value, before, width, lineBreak, lengths) => {
            const secret = `<${value}>`;
            const bytes = Buffer.from(secret);
            const text = encode(Buffer.concat([before, bytes, Buffer.from(' and more')]));
            const left = shown(secret, wrapped(text, width, lineBreak), lengths)
              .split('***')
              .map((one) => one.replace(/\\[nrx]/g, '').replace(/[^A-Za-z0-9+/_-]/g, ''))
              .map((one) => one.replaceAll('-', '+').replaceAll('_', '/'));
            for (let at = 0; at + PROMISED_BYTES <= bytes.length; at += 1) {
              const part = bytes.subarray(at, at + PROMISED_BYTES);
              const hex = part.toString('hex');
              for (const form of [...base64Of(part), hex, hex.toUpperCase()]) {
                expect(left.filter((one) => one.includes(form))).toEqual([]);
              }
            }
          },
        ),
      );
    },
  );

  const secret = 'a secret of more than fifty-seven bytes, so that base64 breaks its line';

  test.each([
    ['lines of 76 characters', wrapped(Buffer.from(secret).toString('base64'), 76)],
    ['lines of 64 characters', wrapped(Buffer.from(secret).toString('base64'), 64, '\r\n')],
    ['indented and quoted lines', wrapped(Buffer.from(secret).toString('base64'), 64, '\n  > ')],
  ])('is completely masked, except for line breaks, in %s', (_name, text) => {
    const left = shown(secret, text, [text.length]);
    expect(left.replace(/[\r\n> ]/g, '')).toBe('***'.repeat(2));
    expect(shown(secret, text, [1])).toBe(left);
  });

  test('is masked even if only part of the secret is encoded', () => {
    const part = Buffer.from(secret.slice(20, 40)).toString('base64');
    expect(shown(secret, `x ${part.slice(1, -4)} y`, [7])).toBe('x *** y');
  });

  test('is masked in each line of a hex dump with offsets and text', () => {
    const lines = wrapped(Buffer.from(secret.slice(0, 64)).toString('hex'), 32).split('\n');
    const dump = lines.map((line, at) => `000000${at}0: ${wrapped(line, 4, ' ')}  ~~~~`).join('\n');
    const left = shown(secret, dump, [11]);
    expect(left.match(/[0-9a-f]{4} [0-9a-f]{4}/g) ?? []).toEqual([]);
    expect(left.match(/~~~~/g)).toHaveLength(4);
  });

  test('is masked when the lines of a PEM key are wrapped differently', () => {
    const body = Buffer.from(
      Array.from({ length: 150 }, (_, index) => (index * 89) % 256),
    ).toString('base64');
    const key = `-----BEGIN KEY-----\n${wrapped(body, 64)}\n-----END KEY-----`;
    expect(shown(key, `"${wrapped(body, 76, String.raw`\n`)}"`, [13])).toBe(
      String.raw`"***\n***\n***"`,
    );
  });

  test('does not delay lines that only happen to end with its first characters', () => {
    const masker = new Masker();
    masker.add([secret]);
    const stream = masker.stream();
    const start = Buffer.from(secret).toString('base64').slice(0, 4);
    const line = `answered ${start}\n`;
    expect(Buffer.from(stream.push(Buffer.from(line))).toString()).toBe(line);
  });

  test('does not affect ordinary text', () => {
    const text = 'one two, 0x12 AAAA: 2026-01-01T00:00:00Z deadbeefdeadbeef a+b/c_d-e '.repeat(20);
    expect(shown(secret, text, [17])).toBe(text);
  });
});
