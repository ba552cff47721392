/** A package index (PEP 503) on a loopback address. It serves generated packages and records requests. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tarGz, zip, type ArchiveFiles } from './archives.ts';

export interface PackageFile {
  readonly fileName: string;
  readonly content: Buffer;
}

export interface PackageIndex {
  /** The URL for `PIP_INDEX_URL`. */
  readonly url: string;
  /** The requested paths, in order. */
  readonly requests: readonly string[];
  /** Delays all responses until the returned function is called. */
  hold(): () => void;
  close(): Promise<void>;
}

interface WheelOptions {
  readonly name: string;
  readonly version: string;
  readonly files: ArchiveFiles;
  readonly requires?: readonly string[];
  /** Console scripts: command → `module:function`. */
  readonly scripts?: Readonly<Record<string, string>>;
}

function hashOf(content: string | Buffer): string {
  return `sha256=${createHash('sha256').update(content).digest('base64url')}`;
}

/** Creates a pure Python wheel. */
export function wheel({ name, version, files, requires = [], scripts }: WheelOptions): PackageFile {
  const info = `${name}-${version}.dist-info`;
  const metadata = ['Metadata-Version: 2.1', `Name: ${name}`, `Version: ${version}`];
  const all: Record<string, string | Buffer> = {
    ...files,
    [`${info}/METADATA`]: [
      ...metadata,
      ...requires.map((each) => `Requires-Dist: ${each}`),
      '',
    ].join('\n'),
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  };
  if (scripts !== undefined) {
    const lines = Object.entries(scripts).map(([command, target]) => `${command} = ${target}`);
    all[`${info}/entry_points.txt`] = ['[console_scripts]', ...lines, ''].join('\n');
  }
  const record = Object.entries(all).map(
    ([path, content]) => `${path},${hashOf(content)},${Buffer.byteLength(content)}`,
  );
  all[`${info}/RECORD`] = [...record, `${info}/RECORD,,`, ''].join('\n');
  return { fileName: `${name}-${version}-py3-none-any.whl`, content: zip(all) };
}

/** Creates a source package. Its build backend is the given Python code, which runs during installation. */
export function sourcePackage(name: string, version: string, backend: string): PackageFile {
  const root = `${name}-${version}`;
  const content = tarGz({
    [`${root}/PKG-INFO`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
    [`${root}/pyproject.toml`]:
      '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
    [`${root}/backend.py`]: backend,
  });
  return { fileName: `${root}.tar.gz`, content };
}

function pageOf(files: readonly PackageFile[]): string {
  const links = files.map(({ fileName, content }) => {
    const sha256 = createHash('sha256').update(content).digest('hex');
    return `<a href="/files/${fileName}#sha256=${sha256}">${fileName}</a>`;
  });
  return `<!DOCTYPE html><html><body>${links.join('<br>')}</body></html>`;
}

// Normalizes a package name (PEP 503).
function normalName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, '-');
}

/** Serves the packages on a free port on 127.0.0.1. */
export async function startPackageIndex(files: readonly PackageFile[]): Promise<PackageIndex> {
  const requests: string[] = [];
  let held: Promise<void> | undefined;
  const answerTo = (path: string): { type: string; body: string | Buffer } | undefined => {
    const [, part, name = ''] = path.split('/');
    if (part === 'simple') {
      const own = files.filter((file) => normalName(file.fileName.split('-')[0] ?? '') === name);
      return own.length === 0 ? undefined : { type: 'text/html', body: pageOf(own) };
    }
    const file = files.find((each) => each.fileName === name);
    return part === 'files' && file
      ? { type: 'application/octet-stream', body: file.content }
      : undefined;
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://index');
    requests.push(pathname);
    void Promise.resolve(held).then(() => {
      const answer = answerTo(pathname);
      response.writeHead(answer ? 200 : 404, { 'content-type': answer?.type ?? 'text/plain' });
      response.end(answer?.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/simple`,
    requests,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
