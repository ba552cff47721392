/** A backup in a file, as it was downloaded. */
import { createReadStream } from 'node:fs';
import { DamagedBackup } from './damaged.ts';
import { downloadParts, type BackupSource } from './files.ts';
import { parseJson, type BackupSummary, type WrappedKey } from './format.ts';
import { wholeMember } from './read.ts';
import { readTar } from './tar.ts';

const { summaryName, keysName, archiveName } = downloadParts;

/** @throws DamagedBackup where the file is none */
export async function downloadedBackup(path: string): Promise<BackupSource> {
  const found = new Map<string, Buffer>();
  for await (const member of readTar(createReadStream(path))) {
    if (member.name === archiveName) break;
    found.set(member.name, await wholeMember(member));
  }
  const [summary, keys] = [found.get(summaryName), found.get(keysName)];
  if (summary === undefined || keys === undefined) {
    throw new DamagedBackup('It is no backup of this program, or its beginning is damaged.');
  }
  return {
    summary: parseJson<BackupSummary>(summary, summaryName),
    keys: parseJson<readonly WrappedKey[]>(keys, keysName),
    archive: () => Promise.resolve(archiveIn(path)),
  };
}

async function* archiveIn(path: string): AsyncGenerator<Uint8Array> {
  for await (const member of readTar(createReadStream(path))) {
    if (member.name === archiveName) yield* member.content;
    else for await (const _ of member.content);
  }
}
