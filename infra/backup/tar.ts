/** Archives in the form of POSIX (ustar, and pax headers where a name does not fit), which any `tar` reads. */
import { ByteReader } from './byte-reader.ts';
import { DamagedBackup } from './damaged.ts';

const blockBytes = 512;
const maxNameBytes = 100;
const maxSizeBytes = 0o77777777777;
const maxPaxBytes = 64 * 1024;
const regular = '0';
const pax = 'x';

export interface TarMember {
  readonly name: string;
  readonly sizeBytes: number;
  /** To be read to its end before the next member is asked for. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** What comes before the content of a member. */
export function tarHeader(name: string, sizeBytes: number): Uint8Array {
  const bytes = Buffer.byteLength(name);
  if (bytes <= maxNameBytes && sizeBytes <= maxSizeBytes) return header(name, sizeBytes, regular);
  const records = Buffer.from(paxRecord('path', name) + paxRecord('size', String(sizeBytes)));
  return Buffer.concat([
    header('pax', records.length, pax),
    records,
    tarPadding(records.length),
    header('long-name', Math.min(sizeBytes, maxSizeBytes), regular),
  ]);
}

/** What comes behind the content of a member. */
export function tarPadding(sizeBytes: number): Uint8Array {
  return Buffer.alloc((blockBytes - (sizeBytes % blockBytes)) % blockBytes);
}

/** What comes behind the last member. */
export const tarEnd: Uint8Array = Buffer.alloc(2 * blockBytes);

/** The members of an archive, one after the other.
 *  @throws DamagedBackup where it is none, or is cut */
export async function* readTar(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TarMember> {
  const reader = new ByteReader(chunks);
  try {
    let named: { path?: string; size?: number } = {};
    for (let last = 'its beginning'; ;) {
      const found = parseHeader(await reader.take(blockBytes), last);
      if (found === 'end') return await toEnd(reader);
      if (found.kind === pax) {
        if (found.sizeBytes > maxPaxBytes) throw new DamagedBackup('A header is too long.');
        named = paxRecords(await reader.take(found.sizeBytes));
        await reader.take(tarPadding(found.sizeBytes).length);
        continue;
      }
      const { path: name = found.name, size: sizeBytes = found.sizeBytes } = named;
      named = {};
      last = name;
      const content = reader.stream(sizeBytes);
      yield { name, sizeBytes, content };
      if (!content.isDone()) throw new Error(`the content of ${name} was not read to its end`);
      await reader.take(tarPadding(sizeBytes).length);
    }
  } finally {
    await reader.close();
  }
}

function header(name: string, sizeBytes: number, kind: string): Buffer {
  const block = Buffer.alloc(blockBytes);
  block.write(name, 0);
  block.write('0000600\0', 100);
  block.write('0000000\0', 108);
  block.write('0000000\0', 116);
  block.write(`${octal(sizeBytes, 11)}\0`, 124);
  block.write(`${octal(0, 11)}\0`, 136);
  block.write('        ', 148);
  block.write(kind, 156);
  block.write('ustar\u000000', 257);
  block.write(`${octal(sumOf(block), 6)}\0 `, 148);
  return block;
}

/** Reads what fills the last block, so that the source has come to its end too. */
async function toEnd(reader: ByteReader): Promise<void> {
  for (;;) {
    const rest = await reader.upTo(blockBytes);
    if (rest.length === 0) return;
    if (!rest.every((byte) => byte === 0)) throw new DamagedBackup('Something was added to it.');
  }
}

function parseHeader(
  block: Buffer,
  last: string,
): 'end' | { name: string; sizeBytes: number; kind: string } {
  if (block.every((byte) => byte === 0)) return 'end';
  const stored = Number.parseInt(text(block, 148, 8), 8);
  const plain = Buffer.from(block);
  plain.write('        ', 148);
  if (stored !== sumOf(plain)) throw new DamagedBackup(`It is damaged behind ${last}.`);
  const sizeBytes = Number.parseInt(text(block, 124, 12), 8);
  return { name: text(block, 0, maxNameBytes), sizeBytes, kind: text(block, 156, 1) };
}

function text(block: Buffer, start: number, length: number): string {
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}

function sumOf(block: Uint8Array): number {
  return block.reduce((sum, byte) => sum + byte, 0);
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

/** `length key=value\n`, where the length counts itself. */
function paxRecord(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (String(length).length > String(rest).length) length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
}

function paxRecords(bytes: Buffer): { path?: string; size?: number } {
  const found: { path?: string; size?: number } = {};
  for (const line of bytes.toString('utf8').split('\n')) {
    const [, key, value] = /^\d+ (\w+)=(.*)$/s.exec(line) ?? [];
    if (key === 'path' && value !== undefined) found.path = value;
    if (key === 'size') found.size = Number(value);
  }
  return found;
}
