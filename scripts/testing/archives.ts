/** Minimal writers for the two archive formats of Python packages. */
import { crc32, gzipSync } from 'node:zlib';

export type ArchiveFiles = Readonly<Record<string, string | Buffer>>;

// 1980-01-01, the first date in the zip format. With a fixed date, the same files result in the same bytes.
const ZIP_DATE = 0x21;
const ZIP_VERSION = 20;
const UTF8_NAMES = 0x0800;

function zipFields(content: Buffer, name: Buffer): Buffer {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(ZIP_VERSION, 0);
  fields.writeUInt16LE(UTF8_NAMES, 2);
  fields.writeUInt16LE(ZIP_DATE, 8);
  fields.writeUInt32LE(crc32(content), 10);
  fields.writeUInt32LE(content.length, 14);
  fields.writeUInt32LE(content.length, 18);
  fields.writeUInt16LE(name.length, 22);
  return fields;
}

/** Creates a zip archive of uncompressed files. */
export function zip(files: ArchiveFiles): Buffer {
  const local: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, text] of Object.entries(files)) {
    const [name, content] = [Buffer.from(path), Buffer.from(text)];
    const fields = zipFields(content, name);
    const entry = Buffer.concat([Buffer.from('PK\x03\x04'), fields, name, content]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(0o100644 * 2 ** 16, 6);
    rest.writeUInt32LE(offset, 10);
    const version = Buffer.from([ZIP_VERSION, 3]);
    directory.push(Buffer.from('PK\x01\x02'), version, fields, rest, name);
    local.push(entry);
    offset += entry.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(local.length, 8);
  end.writeUInt16LE(local.length, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, entries, end]);
}

function tarHeader(path: string, sizeBytes: number): Buffer {
  const header = Buffer.alloc(512);
  const octal = (value: number, length: number) => value.toString(8).padStart(length - 1, '0');
  header.write(path, 0);
  header.write(octal(0o644, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(sizeBytes, 12), 124);
  header.write(octal(0, 12), 136);
  header.write('        0', 148);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 7)}\0 `, 148);
  return header;
}

/** Creates a tar archive compressed with gzip. Paths may have at most 100 bytes. */
export function tarGz(files: ArchiveFiles): Buffer {
  const parts: Buffer[] = [];
  for (const [path, text] of Object.entries(files)) {
    const content = Buffer.from(text);
    const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
    parts.push(tarHeader(path, content.length), content, padding);
  }
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(1024)]));
}
