import fc from 'fast-check';
import { expect, test } from 'vitest';
import { partsOf } from './s3-parts.ts';

async function* each(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

test('a stream is split into parts of equal size, except for a shorter last part', async () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(chunks, fc.integer({ min: 1, max: 40 }), async (given, partBytes) => {
      const parts: Buffer[] = [];
      for await (const part of partsOf(each(given), partBytes)) parts.push(Buffer.from(part));
      expect(Buffer.concat(parts).equals(Buffer.concat(given))).toBe(true);
      expect(parts.slice(0, -1).every((part) => part.length === partBytes)).toBe(true);
      expect(parts.at(-1)?.length).toBeLessThan(partBytes);
    }),
  );
});

test('a part may be larger than the first buffer', async () => {
  const bytes = new Uint8Array(1_000_000).map((_, index) => index % 251);
  const parts: Buffer[] = [];
  for await (const part of partsOf(each([bytes]), 300_000)) parts.push(Buffer.from(part));
  expect(parts.map((part) => part.length)).toEqual([300_000, 300_000, 300_000, 100_000]);
  expect(Buffer.concat(parts).equals(bytes)).toBe(true);
});
