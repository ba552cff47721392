import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLineSplitter, MAX_LINE_BYTES } from './line-splitter.ts';

const utf8 = (text: string) => Buffer.from(text, 'utf8');

/** Splits `bytes` into lines. The bytes arrive in pieces that end at `cuts`. */
function linesOf(bytes: Uint8Array, cuts: readonly number[] = []): string[] {
  const splitter = createLineSplitter();
  const lines: string[] = [];
  let start = 0;
  for (const cut of [...cuts.toSorted((a, b) => a - b), bytes.length]) {
    // Passes a copy that is overwritten afterwards, because readers may reuse their buffer.
    const piece = Uint8Array.from(bytes.subarray(start, cut));
    lines.push(...splitter.push('stdout', piece).map((line) => line.text));
    piece.fill(0x21);
    start = cut;
  }
  return [...lines, ...splitter.flush(true).map((line) => line.text)];
}

/** A simple reference implementation of the line splitter. */
function expectedLines(bytes: Buffer): string[] {
  const lines: string[] = [];
  for (let rest = bytes; rest.length > 0;) {
    const at = rest.indexOf(0x0a);
    const raw = at === -1 ? rest : rest.subarray(0, at);
    rest = at === -1 ? rest.subarray(rest.length) : rest.subarray(at + 1);
    const texts = raw
      .toString('latin1')
      .split('\r')
      .filter((text) => text !== '');
    // As in a terminal, only the last text stays visible.
    const content = Buffer.from(texts.at(-1) ?? '', 'latin1');
    if (at === -1 && content.length === 0) break;
    for (let start = 0; ; start += MAX_LINE_BYTES) {
      lines.push(content.subarray(start, start + MAX_LINE_BYTES).toString('utf8'));
      if (start + MAX_LINE_BYTES >= content.length) break;
    }
  }
  return lines.map((line) => line.replaceAll('\0', '\u2400'));
}

// Generates bytes that often contain special cases: line endings, complete and incomplete characters, NUL.
const interesting = fc
  .array(
    fc.oneof(
      fc.constantFrom('\n', '\r\n', '\r', '\0', 'é', '€', '\u{1f600}', '\ufeff', 'text').map(utf8),
      fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
      fc
        .nat(3)
        .map((extra) => Buffer.alloc(MAX_LINE_BYTES - 1 + extra, 'a'))
        .filter((bytes) => bytes.length > 0),
    ),
    { maxLength: 12 },
  )
  .map((parts) => Buffer.concat(parts));

describe('the line splitter', () => {
  test('returns the same lines, regardless of how the input is divided into chunks', () => {
    fc.assert(
      fc.property(
        interesting,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true })),
        (bytes, at) => {
          const cuts = at.map((fraction) => Math.floor(fraction * bytes.length));
          expect(linesOf(bytes, cuts)).toEqual(linesOf(bytes));
        },
      ),
    );
  });

  test('splits arbitrary bytes at line endings', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(linesOf(bytes)).toEqual(expectedLines(Buffer.from(bytes)));
      }),
    );
  });

  test.each([0, 1, 2, 3])('splits a line that is %d bytes over the limit at the limit', (extra) => {
    const bytes = Buffer.alloc(MAX_LINE_BYTES + extra, 'a');
    for (const end of ['', '\n', '\r\n']) {
      const whole = Buffer.concat([bytes, utf8(end)]);
      const sizes = expectedLines(whole).map((line) => line.length);
      expect(linesOf(whole).map((line) => line.length)).toEqual(sizes);
      const cuts = [MAX_LINE_BYTES, MAX_LINE_BYTES + 1];
      expect(linesOf(whole, cuts).map((line) => line.length)).toEqual(sizes);
    }
  });

  test('never splits a character', () => {
    const text = `a${'€'.repeat(50_000)}`;
    const lines = linesOf(utf8(text));
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.join('')).toBe(text);
    for (const line of lines) expect(utf8(line).length).toBeLessThanOrEqual(MAX_LINE_BYTES);
  });

  test('limits the memory used for a line without an ending', () => {
    const splitter = createLineSplitter();
    let bytes = 0;
    for (let n = 0; n < 300; n += 1) {
      for (const line of splitter.push('stdout', Buffer.alloc(10_000, 'a'))) {
        expect(line.text.length).toBe(MAX_LINE_BYTES);
        bytes += line.text.length;
      }
    }
    expect(3_000_000 - bytes).toBeLessThanOrEqual(MAX_LINE_BYTES + 1);
  });

  test('replaces characters that PostgreSQL or JSON cannot store', () => {
    expect(linesOf(Buffer.from([0x61, 0x00, 0x62, 0xff, 0xed, 0xa0, 0x80, 0x0a]))).toEqual([
      'a\u2400b\ufffd\ufffd\ufffd\ufffd',
    ]);
  });

  test('returns the lines of both streams in the order in which they were completed', () => {
    const splitter = createLineSplitter();
    const lines = [
      ...splitter.push('stdout', utf8('out ')),
      ...splitter.push('stderr', utf8('err 1\nerr')),
      ...splitter.push('stdout', utf8('1\nout 2\n')),
      ...splitter.push('stderr', utf8(' 2\n')),
    ];
    expect(lines.map((line) => `${line.stream}: ${line.text}`)).toEqual([
      'stderr: err 1',
      'stdout: out 1',
      'stdout: out 2',
      'stderr: err 2',
    ]);
  });
});

const withoutReturns = fc
  .string({ unit: 'grapheme', maxLength: 8 })
  .map((text) => text.replaceAll('\r', ''));

describe('a carriage return', () => {
  test.each([
    ['10%\r50%\r100%\n', ['100%']],
    ['\r10%\r50%\r100%\nnext\n', ['100%', 'next']],
    ['100%\r\n\r\nnext\r\n', ['100%', '', 'next']],
    ['50%\r100%\r\r\n', ['100%']],
    ['50%\r100%', ['100%']],
    ['50%\r', ['50%']],
    ['\r', []],
    ['a\r\rb\nc', ['b', 'c']],
  ])('turns %j into %j, as in a terminal', (text, lines) => {
    const bytes = utf8(text);
    for (let cut = 0; cut <= bytes.length; cut += 1) expect(linesOf(bytes, [cut])).toEqual(lines);
  });

  test('after a flush starts a line that replaces the flushed text', () => {
    const splitter = createLineSplitter();
    splitter.push('stderr', utf8('\r10%'));
    expect(splitter.isRedrawing()).toBe(false);
    expect(splitter.flush(false)).toEqual([{ stream: 'stderr', text: '10%' }]);
    splitter.push('stderr', utf8('\r20%'));
    splitter.push('stderr', utf8('\r30%'));
    expect(splitter.isRedrawing()).toBe(true);
    expect(splitter.flush(false)).toEqual([{ stream: 'stderr', text: '30%' }]);
    // A line ending on its own adds no line.
    expect(splitter.push('stderr', utf8('\nname? '))).toEqual([]);
    expect(splitter.isRedrawing()).toBe(false);
  });

  test('that is repeated without line endings keeps only the last text', () => {
    const splitter = createLineSplitter();
    for (let n = 0; n < 10_000; n += 1) splitter.push('stderr', utf8(`\r${n} of 10000`));
    expect(splitter.flush(true)).toEqual([{ stream: 'stderr', text: '9999 of 10000' }]);
  });
});

describe('a flushed partial line', () => {
  test('becomes a line, and a line ending that follows adds no empty line', () => {
    const splitter = createLineSplitter();
    expect(splitter.push('stdout', utf8('name? '))).toEqual([]);
    expect(splitter.hasPartial()).toBe(true);
    expect(splitter.flush(false)).toEqual([{ stream: 'stdout', text: 'name? ' }]);
    expect(splitter.hasPartial()).toBe(false);
    expect(splitter.push('stdout', utf8('\n\nnext\n')).map((line) => line.text)).toEqual([
      '',
      'next',
    ]);
  });

  test('does not contain an incomplete character or line ending', () => {
    const splitter = createLineSplitter();
    const euro = utf8('€');
    splitter.push('stdout', Buffer.concat([utf8('a'), euro.subarray(0, 2)]));
    expect(splitter.flush(false)).toEqual([{ stream: 'stdout', text: 'a' }]);
    expect(splitter.flush(false)).toEqual([]);
    splitter.push('stdout', Buffer.concat([euro.subarray(2), utf8('\r')]));
    expect(splitter.flush(false)).toEqual([{ stream: 'stdout', text: '€' }]);
    expect(splitter.push('stdout', utf8('\nb\n'))).toEqual([{ stream: 'stdout', text: 'b' }]);
  });

  test('is returned before partial lines that began later', () => {
    const splitter = createLineSplitter();
    splitter.push('stderr', utf8('first'));
    splitter.push('stdout', utf8('second'));
    splitter.push('stderr', utf8(' line'));
    expect(splitter.flush(true).map((line) => line.text)).toEqual(['first line', 'second']);
  });

  test('neither loses nor repeats text, regardless of when it is flushed', () => {
    fc.assert(
      fc.property(fc.array(withoutReturns), (texts) => {
        const splitter = createLineSplitter();
        const seen = texts.flatMap((text) => [
          ...splitter.push('stdout', utf8(text)),
          ...splitter.flush(false),
        ]);
        const all = [...seen, ...splitter.flush(true)].map((line) => line.text).join('');
        expect(all).toBe(texts.join('').replaceAll('\n', '').replaceAll('\0', '\u2400'));
      }),
    );
  });
});
