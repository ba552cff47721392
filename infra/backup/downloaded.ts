/** Reads a downloaded backup file. */
import { createReadStream } from 'node:fs';
import { damaged, DamagedBackup, inPart } from './damaged.ts';
import { missing, partNames, type BackupSource } from './files.ts';
import type { BackupSummary } from './format.ts';
import { parseSummary, summaryName } from './manifest.ts';
import { wholeMember } from './read.ts';
import { readTar, type TarMember } from './tar.ts';

/** Reads the whole file once.
 *  @throws DamagedBackup if the file is not a backup, or if the archive is damaged */
export async function downloadedBackup(path: string): Promise<BackupSource> {
  const names: string[] = [];
  let summary: BackupSummary | undefined;
  let reading = summaryName;
  try {
    for await (const member of readTar(createReadStream(path))) {
      if (summary === undefined) summary = await summaryFrom(member);
      else if (names.includes(member.name))
        throw damaged(member.name, 'it appears more than once in the archive');
      else names.push(member.name);
      for await (const _ of member.content);
      reading = partNames(summary)[names.length] ?? names.at(-1) ?? summaryName;
    }
  } catch (error) {
    throw inPart(reading, error);
  }
  if (summary === undefined) throw noBackup();
  return {
    summary,
    names,
    part: (name) =>
      names.includes(name) ? Promise.resolve(partIn(path, name)) : missingPart(name),
  };
}

/** Reads the manifest from the first member of a downloaded archive.
 *  @throws DamagedBackup if the first member is not a manifest */
export async function summaryFrom(member: TarMember): Promise<BackupSummary> {
  if (member.name !== summaryName) throw noBackup();
  return parseSummary(await wholeMember(member));
}

export function noBackup(): DamagedBackup {
  return new DamagedBackup(
    `The file is not a backup of this program, or its first member, ${summaryName}, is damaged.`,
  );
}

function missingPart(name: string): Promise<never> {
  return Promise.reject(missing(name));
}

async function* partIn(path: string, name: string): AsyncGenerator<Uint8Array> {
  for await (const member of readTar(createReadStream(path))) {
    if (member.name === name) return yield* member.content;
    for await (const _ of member.content);
  }
}
