/** Creates backups in the earlier, unsealed format, for tests. */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checksumLine, jsonBytes } from '../format.ts';
import { tarEnd, tarHeader, tarPadding } from '../tar.ts';
import { membersOf } from './damage.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Converts the backup in a folder to the unsealed format, whose archive contains checksum lists. */
export async function unseal(folder: string): Promise<void> {
  const archive = join(folder, 'backup.tar');
  const summary = JSON.parse(readFileSync(join(folder, 'backup.json'), 'utf8'));
  const pieces: Uint8Array[] = [];
  const add = (name: string, content: Uint8Array) =>
    pieces.push(tarHeader(name, content.length), content, tarPadding(content.length));
  const lines: string[] = [];
  const bytes = readFileSync(archive);
  const sizes = new Map(
    readFileSync(join(folder, 'parts.txt'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => [line.split('  ')[2] ?? '', Number(line.split('  ')[1])]),
  );
  for (const { part: name, start, end } of await membersOf(archive)) {
    const size = sizes.get(name);
    if (size === undefined) continue; // the end of the archive
    const from = end - Math.ceil(size / 512) * 512;
    let content: Buffer = bytes.subarray(Math.max(start, from), from + size);
    if (name === 'format.json') content = jsonBytes({ ...parsed(content), format: 1 });
    if (name === 'manifest.json') {
      const list = lines.join('');
      add('checksums/00000001.txt', Buffer.from(list));
      content = jsonBytes({
        ...parsed(content),
        members: lines.length,
        digest: sha256(Buffer.from(list)),
      });
    } else lines.push(checksumLine(name, sha256(content)));
    add(name, content);
  }
  const old = Buffer.concat([...pieces, tarEnd]);
  const { parts: _, seal: __, ...rest } = summary;
  writeFileSync(archive, old);
  writeFileSync(
    join(folder, 'backup.json'),
    jsonBytes({ ...rest, format: 1, sizeBytes: old.length, sha256: sha256(old) }),
  );
  writeFileSync(join(folder, 'keys.json'), readFileSync(join(folder, 'keys-1.json')));
  for (const name of ['keys-1.json', 'parts.txt']) rmSync(join(folder, name));
}

function parsed(bytes: Uint8Array): object {
  return JSON.parse(Buffer.from(bytes).toString('utf8')) as object;
}
