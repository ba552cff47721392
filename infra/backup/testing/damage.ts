/** Damages a backup at positions derived from a seed, for tests. */
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTar } from '../tar.ts';

export interface Region {
  /** The file that contains the part, and the part's byte range. */
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly part: string;
}

/** Returns the parts of a backup in a folder, including the members of its archive. Together, they cover every byte.
 *  @param encrypted members of its archive cannot be distinguished */
export async function regionsOf(
  folder: string,
  names: readonly string[],
  encrypted = false,
): Promise<readonly Region[]> {
  const regions: Region[] = [];
  for (const name of names) {
    const file = join(folder, name);
    const end = readFileSync(file).length;
    if (name === 'backup.tar' && !encrypted) regions.push(...(await membersOf(file)));
    else regions.push({ file, start: 0, end, part: name });
  }
  return regions;
}

/** Returns the members of an archive, each with its header and padding, and the end of the archive. */
export async function membersOf(file: string): Promise<readonly Region[]> {
  const blocks = (bytes: number) => Math.ceil(bytes / 512) * 512;
  const regions: Region[] = [];
  let start = 0;
  for await (const { name, sizeBytes, content } of readTar(createReadStream(file))) {
    for await (const _ of content);
    const end = start + headerBytes(name) + blocks(sizeBytes);
    regions.push({ file, start, end, part: name });
    start = end;
  }
  return [...regions, { file, start, end: start + 1024, part: 'backup.tar' }];
}

/** A member with a long name has an additional header and a block that contains the name. */
const headerBytes = (name: string) => (Buffer.byteLength(name) > 100 ? 3 * 512 : 512);

/** Returns `count` positions: first one in each region, then more in random regions. */
export function placesIn(regions: readonly Region[], count: number, seed: number) {
  const random = randomFrom(seed);
  return Array.from({ length: count }, (_, index) => {
    const region = regions[index < regions.length ? index : random(regions.length)];
    if (region === undefined) throw new Error('there are no regions');
    return { ...region, at: region.start + random(region.end - region.start), bit: random(8) };
  });
}

/** Returns a generator of pseudorandom numbers below a limit (mulberry32). */
function randomFrom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}
