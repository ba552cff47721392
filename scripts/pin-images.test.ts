import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { imageFiles, notYetPinned } from './pin-images/files.ts';
import { imageReferences, withDigests } from './pin-images/references.ts';
import { currentDigest } from './pin-images/registry.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const unpinned = (text: string) =>
  imageReferences(text).flatMap((image) =>
    image.digest === undefined ? [`${image.name}:${image.tag}`] : [],
  );

describe('the images of the production edition', () => {
  const texts = imageFiles.map((path) => readFileSync(root + path, 'utf8'));

  test('are pinned by digest, except for the listed images', () => {
    const images = texts.flatMap(imageReferences);
    expect(images.length).toBeGreaterThan(8);
    expect(texts.flatMap(unpinned).filter((image) => !notYetPinned.includes(image))).toEqual([]);
    const names = images.map(({ name, tag }) => `${name}:${tag}`);
    expect(notYetPinned.filter((image) => !names.includes(image))).toEqual([]);
  });

  test('have the same digest wherever the same tag is used', () => {
    const digests = new Map<string, Set<string | undefined>>();
    for (const { name, tag, digest: found } of texts.flatMap(imageReferences)) {
      const key = `${name}:${tag}`;
      digests.set(key, (digests.get(key) ?? new Set()).add(found));
    }
    expect([...digests].filter(([, found]) => found.size > 1)).toEqual([]);
  });

  test('are reported if they have no digest', () => {
    for (const text of texts) {
      const [pinned] = imageReferences(text).filter((image) => image.digest !== undefined);
      expect(unpinned(text.replace(`@${pinned?.digest}`, ''))).toContain(
        `${pinned?.name}:${pinned?.tag}`,
      );
    }
  });
});

describe('a file', () => {
  const text = `ARG CADDY_IMAGE=caddy:2@${digest('f')}
FROM node:24-slim@${digest('a')} AS base
FROM base AS built
services:
  own: { }
    image: script-orchestration-service:0.1.13
  store:
    image: ghcr.io/versity/gw:v1.8.0
`;

  test('lists its images, except its own build stages and images of this repository', () => {
    expect(imageReferences(text)).toEqual([
      { name: 'caddy', tag: '2', digest: digest('f') },
      { name: 'node', tag: '24-slim', digest: digest('a') },
      { name: 'ghcr.io/versity/gw', tag: 'v1.8.0', digest: undefined },
    ]);
  });

  test('gets the digests of its tags without any other change', () => {
    const digests = new Map([
      ['node:24-slim', digest('b')],
      ['ghcr.io/versity/gw:v1.8.0', digest('c')],
    ]);
    const pinned = text
      .replace(digest('a'), digest('b'))
      .replace('gw:v1.8.0', `gw:v1.8.0@${digest('c')}`);
    expect(withDigests(text, digests)).toBe(pinned);
    expect(withDigests(pinned, digests)).toBe(pinned);
    expect(withDigests(text, new Map())).toBe(text);
  });
});

describe('a registry', () => {
  let server: Server;
  let url: string;
  const asked: string[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      const { method, url: path = '', headers } = request;
      asked.push(`${method} ${path}`);
      const isSignedIn = headers.authorization === 'Bearer anonymous';
      if (path.startsWith('/token?')) {
        response.end(JSON.stringify({ token: 'anonymous' }));
      } else if (path.startsWith('/v2/library/') && !isSignedIn) {
        const challenge = `Bearer realm="${url}/token",service="registry.example"`;
        response.writeHead(401, { 'WWW-Authenticate': challenge }).end();
      } else if (path.endsWith('/manifests/gone')) {
        response.writeHead(404).end();
      } else if (path.endsWith('/manifests/odd')) {
        response.writeHead(200, { 'Docker-Content-Digest': 'md5:1' }).end();
      } else {
        const isIndex =
          headers.accept?.startsWith('application/vnd.oci.image.index.v1+json') === true;
        response.writeHead(200, { 'Docker-Content-Digest': digest(isIndex ? 'd' : 'e') }).end();
      }
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());
  const digestOf = (name: string, tag: string) => currentDigest({ name, tag }, () => url);

  test('returns the digest of a multi-platform image after anonymous authentication', async () => {
    expect(await digestOf('node', '24')).toBe(digest('d'));
    expect(asked.splice(0)).toEqual([
      'HEAD /v2/library/node/manifests/24',
      'GET /token?service=registry.example&scope=repository%3Alibrary%2Fnode%3Apull',
      'HEAD /v2/library/node/manifests/24',
    ]);
  });

  test('is selected by the host in the image name, and is Docker Hub by default', async () => {
    const hosts: string[] = [];
    for (const name of ['ghcr.io/versity/gw', 'grafana/loki', 'postgres']) {
      await currentDigest({ name, tag: '1' }, (host) => {
        hosts.push(host);
        return url;
      });
    }
    expect(hosts).toEqual(['ghcr.io', 'registry-1.docker.io', 'registry-1.docker.io']);
    expect(asked.splice(0)).toContain('HEAD /v2/versity/gw/manifests/1');
  });

  test.each([
    ['gone', /status 404/],
    ['odd', /returned no digest: "md5:1"/],
  ])('reports an error if it returns no valid digest for the tag "%s"', async (tag, message) => {
    await expect(digestOf('grafana/loki', tag)).rejects.toThrow(message);
  });
});
