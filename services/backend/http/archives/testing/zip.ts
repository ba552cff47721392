/** Creates malformed zip archives. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface CraftedEntry {
  readonly name: string | Buffer;
  readonly content?: Uint8Array;
  /** The Unix mode, including the file type. */
  readonly mode?: number;
  readonly encrypted?: boolean;
  readonly method?: number;
  /** A false size to write to the headers. */
  readonly claimedBytes?: number;
}

/** Writes an archive with exactly these headers. */
export function craftedZip(entries: readonly CraftedEntry[]): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const name = Buffer.from(entry.name);
    const content = entry.content ?? Buffer.from('x');
    const data = deflateRawSync(content);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x800 | (entry.encrypted === true ? 1 : 0), 2);
    common.writeUInt16LE(entry.method ?? 8, 4);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(entry.claimedBytes ?? content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const head = Buffer.alloc(46);
    head.writeUInt32LE(0x02014b50, 0);
    head.writeUInt16LE((3 << 8) | 20, 4);
    common.copy(head, 6);
    head.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 38);
    head.writeUInt32LE(offset, 42);
    central.push(head, name);
    const part = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, data]);
    local.push(part);
    offset += part.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Math.min(entries.length, 0xffff), 8);
  end.writeUInt16LE(Math.min(entries.length, 0xffff), 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, directory, end]);
}
