/** Builds the SDK's wheel (PEP 427), an archive that pip installs. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { zipOf } from '../http/archives/write-zip.ts';

/** The package's name for pip. On the public index, `orchestrator` is a different project, and this name is unused. */
export const sdkName = 'script-orchestration-sdk';
/** Name for `import`. */
const moduleName = 'orchestrator';
/** The package's name in the wheel's file name. */
const fileStem = sdkName.replaceAll('-', '_');
export const sdkPython = '>=3.9';

export interface Wheel {
  readonly fileName: string;
  readonly content: Buffer;
  /** SHA-256 of the wheel, in hexadecimal. */
  readonly sha256: string;
}

// A fixed time makes wheels reproducible. Zip archives cannot store times before 1980.
const savedAt = new Date(Date.UTC(1980, 0, 2));

/** The file name of the wheel. */
export const wheelName = (version: string): string => `${fileStem}-${version}-py3-none-any.whl`;

/** @param folder the parent of the package's folder */
export async function wheelOf(folder: string, version: string): Promise<Wheel> {
  const information = `${fileStem}-${version}.dist-info`;
  const files = [
    ...(await sources(folder)),
    file(`${information}/METADATA`, metadata(version)),
    file(`${information}/WHEEL`, wheelLines.join('\n')),
  ];
  const record = `${information}/RECORD`;
  const lines = files.map(
    ({ path, bytes }) => `${path},sha256=${hash(bytes, 'base64url')},${bytes.length}\n`,
  );
  const all = [...files, file(record, `${lines.join('')}${record},,\n`)];
  const content = await buffer(
    zipOf(
      all.map(({ path, bytes }) => ({
        path,
        sizeBytes: bytes.length,
        savedAt,
        open: () => Promise.resolve(only(bytes)),
      })),
    ),
  );
  const fileName = wheelName(version);
  return { fileName, content, sha256: hash(content, 'hex') };
}

interface PackedFile {
  readonly path: string;
  readonly bytes: Buffer;
}

const wheelLines = ['Wheel-Version: 1.0', 'Root-Is-Purelib: true', 'Tag: py3-none-any', ''];

function metadata(version: string): string {
  return [
    'Metadata-Version: 2.1',
    `Name: ${sdkName}`,
    `Version: ${version}`,
    'Summary: Python SDK for scripts on the Script Orchestration Service',
    `Requires-Python: ${sdkPython}`,
    'Classifier: Typing :: Typed',
    '',
  ].join('\n');
}

/** The modules of the package and its `py.typed`, without interpreter caches. */
async function sources(folder: string): Promise<readonly PackedFile[]> {
  const names = (await readdir(join(folder, moduleName))).filter((name) =>
    /\.py$|^py\.typed$/.test(name),
  );
  return await Promise.all(
    names.toSorted().map(async (name) => ({
      path: `${moduleName}/${name}`,
      bytes: await readFile(join(folder, moduleName, name)),
    })),
  );
}

function file(path: string, text: string): PackedFile {
  return { path, bytes: Buffer.from(text) };
}

function hash(bytes: Buffer, encoding: 'hex' | 'base64url'): string {
  return createHash('sha256').update(bytes).digest(encoding);
}

async function* only(bytes: Buffer): AsyncGenerator<Uint8Array, void> {
  yield await Promise.resolve(bytes);
}
