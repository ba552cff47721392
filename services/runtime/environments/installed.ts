/** Lists an environment's packages from its metadata (PEP 376, PEP 566), without executing any code in the
 *  environment. */
import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { normalName } from './lock.ts';

// Flags for opening files that untrusted code may have written. Links are not followed, and a pipe does not block.
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const HEAD_BYTES = 16 * 1024;

/** Returns the first bytes of a regular file, or `undefined` for anything else. */
export async function headOf(path: string, maxBytes: number): Promise<string | undefined> {
  try {
    await using file = await open(path, READ);
    if (!(await file.stat()).isFile()) return undefined;
    const { bytesRead, buffer } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    // Unreadable packages are omitted, because Python cannot import them either.
    return undefined;
  }
}

function field(head: string, name: string): string | undefined {
  const [headers = ''] = head.split(/\r?\n\r?\n/, 1);
  return new RegExp(`^${name}:[ \t]*([\\w.+!-]+)[ \t]*$`, 'im').exec(headers)?.[1];
}

/** Returns one `name==version` line per installed package, sorted. */
export async function installedPackages(sitePackages: string): Promise<string> {
  const names = await readdir(sitePackages).catch(() => []);
  const folders = names.filter((name) => name.endsWith('.dist-info'));
  const lines: string[] = [];
  for (const folder of folders) {
    const head = await headOf(join(sitePackages, folder, 'METADATA'), HEAD_BYTES);
    const name = head && field(head, 'Name');
    const version = head && field(head, 'Version');
    if (name && version) lines.push(`${normalName(name)}==${version}\n`);
  }
  return lines.toSorted().join('');
}
