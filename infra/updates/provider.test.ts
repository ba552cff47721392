import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UpdateRefused } from '#domain/ports/updates.ts';
import { Targets } from '#infra/outgoing/targets.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { publicKeyOf, rawKeyOf, signManifest, type Manifest } from './manifest.ts';
import { RepositoryUpdateProvider } from './provider.ts';
import { repositoryAt } from './source.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const foreign = generateKeyPairSync('ed25519');
const now = new Date('2026-11-22T00:00:00.000Z');
const artifact = Buffer.from('all of a release');

const manifest = (changes: Partial<Manifest> = {}): Manifest => ({
  format: 'orchestrator-update',
  format_version: 1,
  version: '0.1.14',
  notes: 'Better.',
  released_at: '2026-11-20T00:00:00.000Z',
  expires_at: '2027-02-20T00:00:00.000Z',
  minimum_version: '0.1.13',
  artifact: {
    path: '0.1.14/release.tar.gz',
    size_bytes: artifact.length,
    sha256: createHash('sha256').update(artifact).digest('hex'),
  },
  ...changes,
});

let folder: string;
let destination: string;
let server: Server | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orch-repository-'));
  destination = await mkdtemp(join(tmpdir(), 'orch-download-'));
  await offer(signManifest(manifest(), privateKey));
  await writeFile(join(folder, 'release.tar.gz'), artifact);
});
afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
  for (const one of [folder, destination]) await rm(one, { recursive: true });
});

const offer = (text: string) => writeFile(join(folder, 'latest.json'), text);

function providerAt(url: string): RepositoryUpdateProvider {
  const read = repositoryAt(url, new Targets(['127.0.0.1']));
  const keys = [publicKeyOf(rawKeyOf(publicKey))];
  return new RepositoryUpdateProvider({ read, keys, clock: { now: () => now } });
}

const fromFolder = () => providerAt(pathToFileURL(folder).href);

/** Returns a manifest whose artifact is in the same folder. */
const flat = (changes: Partial<Manifest['artifact']> = {}) =>
  manifest({ artifact: { ...manifest().artifact, path: 'release.tar.gz', ...changes } });

async function serve(handle: RequestListener): Promise<string> {
  server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/updates`;
}

describe('a repository', () => {
  test('returns its newest release', async () => {
    expect(await fromFolder().checkLatest()).toEqual({
      version: '0.1.14',
      notes: 'Better.',
      releasedAt: '2026-11-20T00:00:00.000Z',
      expiresAt: '2027-02-20T00:00:00.000Z',
      minimumVersion: '0.1.13',
      sizeBytes: artifact.length,
      sha256: manifest().artifact.sha256,
    });
  });

  test('provides the signed release, which is refused after one bit is flipped', async () => {
    await offer(signManifest(flat(), privateKey));
    const provider = fromFolder();
    const path = await provider.download('0.1.14', destination);
    expect(await readFile(path)).toEqual(artifact);
    expect(await provider.verify(path)).toBe(true);
    const flipped = Buffer.from(artifact);
    flipped[3] = (flipped[3] ?? 0) ^ 1;
    await writeFile(path, flipped);
    expect(await provider.verify(path)).toBe(false);
    await writeFile(path, artifact);
    await truncate(path, artifact.length - 1);
    expect(await provider.verify(path)).toBe(false);
    await rm(path);
    expect(await provider.verify(path)).toBe(false);
  });

  test('is read over HTTP, including redirects', async () => {
    const paths: (string | undefined)[] = [];
    const url = await serve((request, response) => {
      paths.push(request.url);
      if (request.url === '/updates/latest.json') response.end(signManifest(flat(), privateKey));
      else if (request.url === '/elsewhere') response.end(artifact);
      else response.writeHead(302, { Location: '/elsewhere' }).end();
    });
    const provider = providerAt(url);
    expect(await provider.verify(await provider.download('0.1.14', destination))).toBe(true);
    expect(paths).toEqual(['/updates/latest.json', '/updates/release.tar.gz', '/elsewhere']);
  });
});

describe('a repository that cannot be trusted', () => {
  const changed = (change: (envelope: { payload: string }) => void) => {
    const envelope = JSON.parse(signManifest(manifest(), privateKey));
    change(envelope);
    return JSON.stringify(envelope);
  };

  test.each([
    ['was signed with another key', signManifest(manifest(), foreign.privateKey), /not signed/],
    [
      'was changed after it was signed',
      changed((envelope) => {
        const text = Buffer.from(envelope.payload, 'base64').toString().replace('0.1.14', '0.1.99');
        envelope.payload = Buffer.from(text).toString('base64');
      }),
      /not signed/,
    ],
    [
      'has expired',
      signManifest(manifest({ expires_at: '2026-11-21T23:59:59.999Z' }), privateKey),
      /expired/,
    ],
    [
      'has another format',
      signManifest(manifest({ format_version: 2 as never }), privateKey),
      /unsupported format/,
    ],
    [
      'names a file outside the repository',
      signManifest(
        manifest({ artifact: { ...manifest().artifact, path: '../../etc/passwd' } }),
        privateKey,
      ),
      /unsupported format/,
    ],
    ['is not JSON', '<html>', /not JSON/],
    ['is too large', ' '.repeat(1024 * 1024 + 1), /too large/],
  ])('is refused when its manifest %s', async (_, envelope, reason) => {
    await offer(envelope);
    await expect(fromFolder().checkLatest()).rejects.toThrow(reason);
    await expect(fromFolder().download('0.1.14', destination)).rejects.toThrow(UpdateRefused);
  });

  test('is refused when the offered version changes before the download', async () => {
    await expect(fromFolder().download('0.1.13', destination)).rejects.toThrow(/instead of 0.1.13/);
  });

  test('is read only up to the signed size of an artifact', async () => {
    await offer(signManifest(flat({ size_bytes: 5 }), privateKey));
    await expect(fromFolder().download('0.1.14', destination)).rejects.toThrow(/larger/);
  });

  test('leaves no partial release when a download is interrupted', async () => {
    const url = await serve((request, response) => {
      if (request.url?.endsWith('.json') === true) {
        return response.end(signManifest(flat(), privateKey));
      }
      response.writeHead(200, { 'Content-Length': artifact.length });
      response.write(artifact.subarray(0, 4));
      return setImmediate(() => response.destroy());
    });
    await expect(providerAt(url).download('0.1.14', destination)).rejects.toThrow();
    expect(await providerAt(url).verify(join(destination, '0.1.14.tar.gz'))).toBe(false);
  });

  test('cannot redirect into a private network', async () => {
    const url = await serve((_, response) => {
      response.writeHead(302, { Location: 'http://169.254.169.254/latest.json' }).end();
    });
    await expect(providerAt(url).checkLatest()).rejects.toThrow(
      /does not resolve to a public address/,
    );
  });
});
