import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { seal, unseal } from './sealing.ts';

const key = randomBytes(32);
const chunk = 64 * 1024;
const sealedChunk = chunk + 16;

async function* pieces(bytes: Uint8Array, size = 1_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
async function whole(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const one of chunks) all.push(one);
  return Buffer.concat(all);
}

describe('content', () => {
  test.each([0, 1, chunk - 1, chunk, chunk + 1, 3 * chunk])(
    'of %d bytes is unchanged after it is encrypted and decrypted',
    async (size) => {
      const content = randomBytes(size);
      const sealed = await whole(seal(key, pieces(content)));
      expect(await whole(unseal(key, pieces(sealed, 70_001)))).toEqual(content);
    },
  );
});

describe('encrypted content', () => {
  const sealing = whole(seal(key, pieces(randomBytes(3 * chunk + 10))));
  const headBytes = sealing.then((sealed) => sealed.length - 3 * sealedChunk - 10 - 16);
  const openedWith = async (change: (sealed: Buffer, head: number) => Buffer) =>
    await whole(unseal(key, pieces(change(Buffer.from(await sealing), await headBytes), 9_999)));
  const flip = (bytes: Buffer, at: number) => {
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    return bytes;
  };

  test('is refused when one bit is flipped', async () => {
    await expect(openedWith((bytes) => flip(bytes, 2))).rejects.toThrow('beginning was changed');
    await expect(openedWith((bytes, head) => flip(bytes, head - 1))).rejects.toThrow('at byte 0');
    await expect(openedWith((bytes, head) => flip(bytes, head + sealedChunk))).rejects.toThrow(
      `at byte ${sealedChunk} was changed`,
    );
    await expect(openedWith((bytes) => flip(bytes, bytes.length - 1))).rejects.toThrow('truncated');
  });

  test('is refused when truncated within a chunk or between two chunks', async () => {
    await expect(openedWith((bytes) => bytes.subarray(0, -30))).rejects.toThrow('truncated');
    await expect(openedWith((bytes) => bytes.subarray(0, -1))).rejects.toThrow('truncated');
    await expect(
      openedWith((bytes, head) => bytes.subarray(0, head + sealedChunk)),
    ).rejects.toThrow('truncated');
  });

  test('is refused when two chunks are swapped', async () => {
    const swapped = openedWith((bytes, head) => {
      const at = (place: number) => bytes.subarray(head + place * sealedChunk);
      const first = at(0).subarray(0, sealedChunk);
      const second = at(1).subarray(0, sealedChunk);
      return Buffer.concat([bytes.subarray(0, head), second, first, at(2)]);
    });
    await expect(swapped).rejects.toThrow('at byte 0 was changed or moved');
  });

  test('is refused when decrypted with another key', async () => {
    await expect(whole(unseal(randomBytes(32), pieces(await sealing)))).rejects.toThrow(
      'another ORCH_BACKUP_KEY',
    );
  });
});
