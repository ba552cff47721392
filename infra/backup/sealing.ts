/** Encrypts a stream with AES-256-GCM in chunks. Each chunk is bound to its position and the last chunk is marked, so
 *  that changed, moved, added or missing chunks are detected. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { keyName } from '#infra/secrets/envelope.ts';
import { ByteReader } from './byte-reader.ts';
import { Damage, DamagedBackup } from './damaged.ts';

const algorithm = 'aes-256-gcm';
const magic = Buffer.from('orchestrator sealed 1\n');
const saltBytes = 32;
const nameBytes = 16;
const tagBytes = 16;
const chunkBytes = 64 * 1024;

/** Encrypts content. The output is a header with the key's name and a salt, followed by the chunks. */
export async function* seal(
  key: Uint8Array,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const salt = randomBytes(saltBytes);
  yield Buffer.concat([magic, Buffer.from(keyName(key)), salt]);
  const own = ownKey(key, salt);
  const reader = new ByteReader(content);
  try {
    let chunk = await reader.upTo(chunkBytes);
    for (let place = 0; ; place += 1) {
      const next = chunk.length < chunkBytes ? undefined : await reader.upTo(chunkBytes);
      const isLast = next === undefined || next.length === 0;
      const cipher = createCipheriv(algorithm, own, nonceOf(place, isLast));
      yield Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
      if (isLast) return;
      chunk = next;
    }
  } finally {
    await reader.close();
  }
}

/** Decrypts encrypted content.
 *  @throws DamagedBackup if the content was changed or truncated, or the key is wrong */
export async function* unseal(
  key: Uint8Array,
  sealed: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const reader = new ByteReader(sealed);
  try {
    const head = await reader.take(magic.length + nameBytes + saltBytes);
    if (!head.subarray(0, magic.length).equals(magic)) {
      throw new Damage('its beginning was changed');
    }
    if (head.toString('utf8', magic.length, magic.length + nameBytes) !== keyName(key)) {
      throw new DamagedBackup(
        'backup.tar is encrypted with another ORCH_BACKUP_KEY, or its beginning is damaged.',
      );
    }
    const own = ownKey(key, head.subarray(-saltBytes));
    let chunk = await reader.upTo(chunkBytes + tagBytes);
    for (let place = 0; ; place += 1) {
      const next = await reader.upTo(chunkBytes + tagBytes);
      yield open(own, chunk, place, next.length === 0);
      if (next.length === 0) return;
      chunk = next;
    }
  } finally {
    await reader.close();
  }
}

function open(key: Uint8Array, chunk: Buffer, place: number, isLast: boolean): Buffer {
  const end = chunk.length - tagBytes;
  if (end < 0) throw new Damage('it is truncated');
  const decipher = createDecipheriv(algorithm, key, nonceOf(place, isLast));
  decipher.setAuthTag(chunk.subarray(end));
  try {
    return Buffer.concat([decipher.update(chunk.subarray(0, end)), decipher.final()]);
  } catch (cause) {
    const at = place * (chunkBytes + tagBytes);
    const what = isLast ? 'was changed or truncated' : 'was changed or moved';
    throw new Damage(`its encrypted chunk at byte ${at} ${what}`, { cause });
  }
}

function ownKey(key: Uint8Array, salt: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, salt, 'backup', 32));
}

function nonceOf(place: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(place), 3);
  nonce.writeUInt8(isLast ? 1 : 0, 11);
  return nonce;
}
