import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { readTar, tarEnd, tarHeader, tarPadding } from './tar.ts';

const long = `objects/runs/1/artifacts/${'päth/'.repeat(60)}end.txt`;
const members = [
  { name: 'a.txt', content: Buffer.from('hello') },
  { name: 'empty', content: Buffer.alloc(0) },
  { name: long, content: Buffer.alloc(512, 'x') },
  { name: 'b'.repeat(100), content: Buffer.alloc(513, 'y') },
];
const archive = Buffer.concat([
  ...members.flatMap(({ name, content }) => [
    tarHeader(name, content.length),
    content,
    tarPadding(content.length),
  ]),
  tarEnd,
]);

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 300) yield bytes.subarray(at, at + 300);
}
async function read(bytes: Uint8Array) {
  const found: { name: string; content: Buffer }[] = [];
  for await (const { name, content } of readTar(pieces(bytes))) {
    const all: Uint8Array[] = [];
    for await (const piece of content) all.push(piece);
    found.push({ name, content: Buffer.concat(all) });
  }
  return found;
}

test('an archive with file names of any length is read back unchanged', async () => {
  expect(await read(archive)).toEqual(members);
});

test('the tar program can list the members of the archive', () => {
  const listed = execFileSync('tar', ['--list', '--quoting-style=literal'], { input: archive });
  expect(listed.toString('utf8').trim().split('\n')).toEqual(members.map(({ name }) => name));
});

test('a flipped bit in an archive either causes an error or changes a member', async () => {
  for (let at = 0; at < archive.length; at += 1) {
    const damaged = Buffer.from(archive);
    damaged.writeUInt8(damaged.readUInt8(at) ^ (1 << (at % 8)), at);
    const found = await read(damaged).catch(() => 'refused');
    expect(found, `byte ${at}`).not.toEqual(members);
  }
});

test('an archive is refused when truncated, damaged or extended', async () => {
  for (const cut of [700, -1024, -512, -1]) {
    await expect(read(archive.subarray(0, cut))).rejects.toThrow('it is truncated');
  }
  const damaged = Buffer.from(archive);
  damaged.writeUInt8(damaged.readUInt8(1024) ^ 1, 1024);
  await expect(read(damaged)).rejects.toThrow('its header is corrupt');
  await expect(read(Buffer.concat([archive, Buffer.from('x')]))).rejects.toThrow('was added');
});
