/** Reads and writes POSIX tar archives (ustar, with pax headers for long names). Any `tar` program can read them. */
import { ByteReader } from './byte-reader.ts';
import { Damage } from './damaged.ts';

const blockBytes = 512;
const maxNameBytes = 100;
const maxSizeBytes = 0o77777777777;
const maxPaxBytes = 64 * 1024;
const regular = '0';
const pax = 'x';

export interface TarMember {
  readonly name: string;
  readonly sizeBytes: number;
  /** Must be read completely before the next member is requested. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** Returns the header that precedes a member's content. */
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

/** Returns the padding that follows a member's content. */
export function tarPadding(sizeBytes: number): Uint8Array {
  return Buffer.alloc((blockBytes - (sizeBytes % blockBytes)) % blockBytes);
}

/** The end of an archive, after its last member. */
export const tarEnd: Uint8Array = Buffer.alloc(2 * blockBytes);

/** Yields the members of an archive that this program wrote.
 *  @throws Damage if a byte outside the members' contents was changed */
export async function* readTar(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TarMember> {
  const reader = new ByteReader(chunks);
  try {
    let named: { path?: string; size?: number } = {};
    let head: Buffer[] = [];
    for (;;) {
      const block = await reader.take(blockBytes);
      head.push(block);
      const found = parseHeader(block);
      if (found === 'end' && head.length === 1) return await toEnd(reader);
      if (found === 'end') throw changed();
      if (found.kind === pax) {
        if (!(found.sizeBytes <= maxPaxBytes)) throw changed();
        const records = await reader.take(found.sizeBytes);
        head.push(records, await reader.take(tarPadding(found.sizeBytes).length));
        named = paxRecords(records);
        continue;
      }
      const { path: name = found.name, size: sizeBytes = found.sizeBytes } = named;
      if (!Buffer.concat(head).equals(tarHeader(name, sizeBytes))) throw changed();
      [named, head] = [{}, []];
      const content = contentOf(reader, sizeBytes);
      yield { name, sizeBytes, content };
      if (!content.isDone()) throw new Error(`the reader skipped a part of the content of ${name}`);
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

/** Yields a member's content. Also reads the padding, so that damage there is attributed to this member. */
function contentOf(reader: ByteReader, sizeBytes: number) {
  const content = reader.stream(sizeBytes);
  let isDone = false;
  return {
    isDone: () => isDone,
    async *[Symbol.asyncIterator]() {
      if (isDone) return;
      yield* content;
      const padding = await reader.take(tarPadding(sizeBytes).length);
      if (!isZero(padding)) throw new Damage('the padding after it is corrupt');
      isDone = true;
    },
  };
}

/** Reads the second of the two final blocks and checks that nothing follows it. */
async function toEnd(reader: ByteReader): Promise<void> {
  const rest = await reader.upTo(blockBytes + 1);
  if (rest.length < blockBytes) throw new Damage('it is truncated');
  if (rest.length > blockBytes) throw new Damage('data was added after its end');
  if (!isZero(rest)) throw new Damage('its end is corrupt');
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

function changed(): Damage {
  return new Damage('its header is corrupt');
}

function parseHeader(block: Buffer): 'end' | { name: string; sizeBytes: number; kind: string } {
  if (isZero(block)) return 'end';
  const stored = Number.parseInt(text(block, 148, 8), 8);
  const plain = Buffer.from(block);
  plain.write('        ', 148);
  if (stored !== sumOf(plain)) throw changed();
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

/** Returns `length key=value\n`. The length includes its own digits. */
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
