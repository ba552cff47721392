/** Tests the error messages about lost and unexpected responses. */
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
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
