import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { outputOf, serving, variablesFor } from '../testing/command-line.ts';
import { hashOf } from './folder.ts';
import { writeProject } from './project.ts';

const id = '019aa3f2-5b1c-7d2e-9f30-4a1b2c3d4e5f';

test('a pull prints the downloaded changes, as JSON with --json', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'orch-pull-'));
  const content = 'print(1)\n';
  const sha256 = hashOf(Buffer.from(content));
  await using server = await serving(({ url }, response) => {
    const page = { items: [{ path: 'main.py', sha256 }], next_cursor: null };
    if (url === `/api/v1/scripts/${id}`) response.end(JSON.stringify({ id, name: 'Weather' }));
    else if (url?.endsWith('/main.py')) response.setHeader('ETag', `"${sha256}"`).end(content);
    else response.setHeader('ETag', '"1"').end(JSON.stringify(page));
  });
  const around = { environment: variablesFor(server.url), folder: folder.path };
  expect(await outputOf(`sync pull ${id} a`, around)).toMatchObject({
    code: 0,
    out: 'wrote main.py',
  });
  const asJson = await outputOf(`sync pull ${id} b --json`, around);
  expect(JSON.parse(asJson.out)).toEqual([{ path: 'main.py', side: 'there', change: 'new' }]);
  expect((await outputOf(`sync pull ${id} b --json`, around)).out).toBe('[]');
});

test('a push prints the planned or the uploaded changes as JSON with --json', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'orch-push-'));
  await using server = await serving(({ method }, response) => {
    const page = { items: [], next_cursor: null };
    const body = method === 'PUT' ? { script_version: 2 } : page;
    response.setHeader('ETag', '"1"').end(JSON.stringify(body));
  });
  const project = { server: server.url, script_id: id, script_name: 'Weather', base: {} };
  await writeProject(folder.path, project);
  await writeFile(join(folder.path, 'main.py'), 'print(1)\n');
  const around = { environment: variablesFor(server.url), folder: folder.path };
  const changes = '[{"path":"main.py","side":"here","change":"new"}]';
  expect((await outputOf('sync push --dry-run --json', around)).out).toBe(changes);
  expect(await outputOf('sync push --json', around)).toMatchObject({ code: 0, out: changes });
});
