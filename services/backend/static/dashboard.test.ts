import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import express from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDashboard } from './dashboard.ts';

const script = 'console.log("one")\n'.repeat(50);
let folder: string;
let server: Server;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orch-dashboard-'));
  const chunks = join(folder, '_app', 'immutable', 'chunks');
  await mkdir(chunks, { recursive: true });
  await writeFile(join(chunks, 'packed.js'), script);
  await writeFile(join(chunks, 'packed.js.br'), brotliCompressSync(script));
  await writeFile(join(chunks, 'plain.js'), script);
  const app = express();
  addDashboard(app, folder);
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

async function load(path: string, encoding: string) {
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/_app/immutable/${path}`;
  const answer = await fetch(url, { headers: { 'Accept-Encoding': encoding } });
  const { headers, status } = answer;
  const text = await answer.text();
  return {
    status,
    type: headers.get('Content-Type'),
    encoding: headers.get('Content-Encoding'),
    cache: headers.get('Cache-Control'),
    isWhole: text === script,
  };
}

const whole = {
  status: 200,
  type: 'text/javascript; charset=utf-8',
  cache: 'public, max-age=31536000, immutable',
  isWhole: true,
};

test('precompressed files are served to clients that accept them', async () => {
  expect(await load('chunks/packed.js', 'gzip, br')).toEqual({ ...whole, encoding: 'br' });
  expect(await load('chunks/packed.js', 'gzip')).toEqual({ ...whole, encoding: null });
  expect(await load('chunks/plain.js', 'br')).toEqual({ ...whole, encoding: null });
});

test('the start page is served to clients that accept any type, but not at invalid paths', async () => {
  const { port } = server.address() as AddressInfo;
  const status = async (path: string, accept: string) =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { Accept: accept } })).status;
  expect(await status('/', '*/*')).toBe(503); // This build has no index.
  expect(await status('/', 'application/json')).toBe(404);
  expect(await status('/nothing', '*/*')).toBe(404);
});

test('missing dashboard files return 404', async () => {
  expect(await load('chunks/none.js', 'br')).toMatchObject({ status: 404 });
});
