/** Tests repositories over HTTPS with the operator's own certificate authority. */
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { findProgram } from '#infra/testing/find-program.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';

const program = fileURLToPath(new URL('testing/read-child.ts', import.meta.url));
const openssl = {
  service: 'OpenSSL',
  found: findProgram('openssl', []),
  reason: 'no openssl on this machine (Debian: apt-get install openssl)',
};

let folder: string;
let good: Server;
let other: Server;

/** Creates a key and a certificate for a name, signed by the certificate authority. */
function certificate(name: string): { readonly key: Buffer; readonly cert: Buffer } {
  const at = (kind: string) => join(folder, `${name}.${kind}`);
  const sign = (...args: string[]) => void execFileSync('openssl', args, { stdio: 'ignore' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const [ca, caKey] = [join(folder, 'ca.crt'), join(folder, 'ca.key')];
  if (name === 'ca')
    sign('req', '-x509', ...newKey, '-keyout', caKey, '-out', ca, '-subj', '/CN=ca');
  else {
    writeFileSync(at('ext'), `subjectAltName=DNS:${name}`);
    sign('req', ...newKey, '-keyout', at('key'), '-out', at('csr'), '-subj', `/CN=${name}`);
    const of = ['-CA', ca, '-CAkey', caKey, '-CAcreateserial', '-extfile', at('ext')];
    sign('x509', '-req', '-in', at('csr'), ...of, '-out', at('crt'));
  }
  return { key: readFileSync(at('key')), cert: readFileSync(at('crt')) };
}

function answer(url: string | undefined, response: ServerResponse): void {
  const redirect = (to: string) => void response.writeHead(302, { Location: to }).end();
  if (url === '/moved/latest.json') redirect('/latest.json');
  else if (url === '/plain/latest.json') redirect('http://localhost/latest.json');
  else if (url === '/round/latest.json') redirect('/round/latest.json');
  else if (url === '/latest.json') response.end('the manifest');
  else if (url === '/halts/latest.json') response.write('the be');
  // The server never responds to `/silent/…`.
}

async function serve(name: string): Promise<Server> {
  const server = createServer(certificate(name), ({ url }, response) => answer(url, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

beforeAll(async () => {
  if (openssl.found === undefined) return;
  folder = mkdtempSync(join(tmpdir(), 'orch-https-'));
  certificate('ca');
  [good, other] = [await serve('localhost'), await serve('other.example')];
});
afterAll(() => {
  if (openssl.found === undefined) return;
  for (const server of [good, other]) server.close().closeAllConnections();
  rmSync(folder, { recursive: true });
});

/** @param trusts whether NODE_EXTRA_CA_CERTS contains the certificate authority */
async function read(server: Server, below: string, trusts = true): Promise<string> {
  const url = `https://localhost:${(server.address() as AddressInfo).port}${below}`;
  const { NODE_EXTRA_CA_CERTS: _, ...rest } = process.env;
  const env = trusts ? { ...rest, NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt') } : rest;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [program, url, 'latest.json', '300'],
    { env },
  );
  return stdout;
}

describeWith(openssl, 'a repository over HTTPS with a private certificate authority', () => {
  test('is read with the certificate authority in NODE_EXTRA_CA_CERTS, including redirects', async () => {
    expect(await read(good, '/')).toBe('the manifest');
    expect(await read(good, '/moved/')).toBe('the manifest');
  });

  test('is refused with a certificate error if no trusted authority issued the certificate', async () => {
    expect(await read(good, '/', false)).toMatch(/^refused: .*certificate/);
  });

  test('is refused with an error that names both hosts if the certificate is for another host', async () => {
    expect(await read(other, '/')).toMatch(/^refused: .*localhost.*other\.example/);
  });

  test.each([
    ['redirects away from HTTPS', '/plain/', /redirects away from HTTPS/],
    ['redirects in a loop', '/round/', /returned status 302/],
    ['sends no response', '/silent/', /does not respond/],
    ['stops in the middle of a response', '/halts/', /does not respond|aborted|cut/],
  ])('fails with the reason if it %s', async (_, below, reason) => {
    const said = await read(good, below);
    expect(said).toMatch(/^refused: /);
    expect(said).toMatch(reason);
  });
});
