import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { removeFolder } from '../environments/folders.ts';
import { PackagePaths, sdkFolder } from './package.ts';

test('the SDK works in an environment in which a package has placed files next to the library', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'orch-sdk-'));
  try {
    const packages = join(folder, 'lib', 'python3.12', 'site-packages');
    await mkdir(packages, { recursive: true });
    await writeFile(join(folder, 'lib', 'python312.zip'), 'no folder');
    await new PackagePaths().ensure(folder);
    const file = join(packages, 'orchestrator-platform.pth');
    expect((await readFile(file, 'utf8')).split('\n')[0]).toBe(sdkFolder);
  } finally {
    await removeFolder(folder);
  }
});

test('local mode calls the handler that a file defines', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'orch-sdk-'));
  try {
    const source = `def handler(event, context):
    if "fail" in event["params"]:
        raise ValueError("broken")
    return [event["params"], event["payload"]["body"].decode()]
`;
    await writeFile(join(folder, 'main.py'), source);
    await writeFile(join(folder, 'body'), 'the body');
    const env = { ...process.env, PYTHONPATH: sdkFolder, PYTHONDONTWRITEBYTECODE: '1' };
    const call = (params: string) =>
      promisify(execFile)(
        'python3',
        ['-m', 'orchestrator', 'main.py', '--params', params, '--payload', 'body'],
        { env, cwd: folder },
      );
    expect((await call('{"a": 1}')).stderr).toContain('output [{"a": 1}, "the body"]');
    await expect(call('{"fail": 1}')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/in handler\n.*\nValueError: broken\n$/),
    });
  } finally {
    await removeFolder(folder);
  }
});

test('MQTT messages contain bytes and text unchanged, and all other values as JSON', async () => {
  const program = `from orchestrator import InvalidRequest, Platform
platform = Platform()
for payload in (b"raw", "text", {"a": [1, None]}, 3, {1, 2}):
    try:
        platform.mqtt.publish("t", payload)
    except InvalidRequest as error:
        print(error)
`;
  const env = { ...process.env, PYTHONPATH: sdkFolder, PYTHONDONTWRITEBYTECODE: '1' };
  const { stdout, stderr } = await promisify(execFile)('python3', ['-c', program], { env });
  const published = [...stderr.matchAll(/mqtt t b'(.*)' \(/g)].map(([, body]) => body);
  expect(published).toEqual(['raw', 'text', '{"a": [1, null]}', '3']);
  expect(stdout).toBe(
    'the value cannot be encoded as JSON: Object of type set is not JSON serializable\n',
  );
});
