/** Tests the error messages about lost and unexpected responses. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { findProgram } from '#infra/testing/find-program.ts';
import { outputOf, serving, variablesFor } from './testing/command-line.ts';

const told = (line: string, url: string) =>
  outputOf(line, { environment: variablesFor(url), folder: tmpdir() });

test.each([
  ['stop 123', /^http:\S+ does not respond \(socket hang up\)\. The server may have/],
  ['api DELETE /api/v1/x', /The server may have performed the request: check before you repeat/],
  ['pools delete 123 --yes', /\. The server may have performed the request: check before/],
  ['api GET /api/v1/x', /does not respond \(socket hang up\)\. Check that the server is/],
])('a lost response: %s', async (line, sentence) => {
  await using server = await serving((request) => request.socket.destroy());
  const { code, problem } = await told(line, server.url);
  expect(problem).toMatch(sentence);
  expect(code).toBe(69);
});

test.each([
  ['runs', '{"hello": 1}'],
  ['scripts', '[]'],
  ['updates list', '{}'],
  ['stop 1', '{}'],
  ['groups create --name x', '{}'],
  ['system health', '<html>'],
  ['api GET /api/v1/runs', '<html>'],
  ['artifacts get 1 x', '<html>'],
  ['logs 1', '{"code": "not_found"}', 404],
  ['runs', '', 401],
])('a response of another server: %s', async (line, body, status = 200) => {
  await using server = await serving((_request, response) => {
    response.removeHeader('X-Request-Id');
    response.writeHead(status).end(body);
  });
  expect(await told(line, server.url)).toEqual({
    code: 69,
    out: '',
    problem: `${server.url} did not answer like this platform. Check the address.`,
  });
  const diagnosis = await told('doctor', server.url);
  expect([diagnosis.code, diagnosis.out]).toEqual([
    1,
    expect.stringMatching(/failed +server +\S+ did not answer like this platform\. Check the/),
  ]);
  expect(diagnosis.out).not.toMatch(/ok +server/);
});

test('an error of the server is printed without control characters', async () => {
  await using server = await serving((_request, response) => {
    const detail = 'First.\u001B[2J\u009B31m\r\n\tSecond.\u0007';
    response.writeHead(409).end(JSON.stringify({ code: 'x', detail }));
  });
  const { problem } = await told('runs', server.url);
  expect(problem).toBe('First.?[2J?31m?\n\tSecond.?');
});

test.each([
  [
    'https://example.com/a',
    'to https://example.com. Use that address: orchestrator login https://',
  ],
  ['/api/v1/runs', '/api/v1/runs to /api/v1/runs. Check the redirects of its reverse proxy.'],
  ['http://', '/api/v1/runs to an invalid URL. Check the redirects of its reverse proxy.'],
])('a redirect to %s is not followed, and the error says what to do', async (location, text) => {
  await using server = await serving((_request, response) => {
    response.removeHeader('X-Request-Id');
    response.writeHead(301, { location }).end();
  });
  const { code, problem } = await told('runs', server.url);
  expect(problem).toContain(`${server.url} redirects ${text}`);
  expect(code).toBe(69);
});

const openssl = {
  service: 'OpenSSL',
  found: findProgram('openssl', []),
  reason: 'no openssl on this machine (Debian: apt-get install openssl)',
};

describeWith(openssl, 'a server with a self-signed certificate', () => {
  test('is refused, and the error names the setting for its authority', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'orch-certificate-'));
    const [key, cert] = [join(folder.path, 'key'), join(folder.path, 'cert')];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const files = ['-keyout', key, '-out', cert, '-subj', '/CN=localhost'];
    execFileSync('openssl', ['req', '-x509', ...curve, ...files], { stdio: 'ignore' });
    const server = createServer({ key: await readFile(key), cert: await readFile(cert) });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const text =
      `This machine does not trust the certificate of ${url} (DEPTH_ZERO_SELF_SIGNED_CERT). ` +
      'Set NODE_EXTRA_CA_CERTS=FILE to the certificate of its authority in PEM format.';
    expect(await told('stop 1', url)).toEqual({ code: 69, out: '', problem: text });
    expect((await told('doctor', url)).out).toContain(text);
    await once(server.close(), 'close');
  });
});
