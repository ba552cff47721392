/** Tests that environment builds, which execute untrusted code, are contained like scripts. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sourcePackage, startPackageIndex } from '../../scripts/testing/package-index.ts';
import { givenEnvironments, readyOf } from './environments/testing/fixture.ts';
import { Bench } from './sandbox/testing/bench.ts';
import { sandboxedBuilds } from './sandboxed-builds.ts';

/** Returns the source of a package whose build examines its surroundings, reports the result, and succeeds. */
function looksAround(secret: string): string {
  return `import json, os, zipfile

def tried(work):
    try:
        work()
        return "done"
    except OSError as error:
        return type(error).__name__

def build_wheel(folder, *args, **kwargs):
    status = open("/proc/self/status").read()
    found = {
        "secret": tried(lambda: open(${JSON.stringify(secret)})),
        "system": tried(lambda: open("/usr/planted", "w")),
        "variables": [name for name in os.environ if "SECRET" in name or name.startswith("ORCH_")],
        "filtered": "Seccomp:\\t2" in status,
        "rights": [line.split()[1] for line in status.splitlines() if line.startswith("CapEff")],
        "user": os.getuid() == 0,
    }
    name = "curious-1.0-py3-none-any.whl"
    information = "curious-1.0.dist-info"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        wheel.writestr("curious.json", json.dumps(found))
        wheel.writestr(information + "/METADATA", "Metadata-Version: 2.1\\nName: curious\\nVersion: 1.0\\n")
        wheel.writestr(information + "/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(information + "/RECORD", "")
    return name
`;
}

/** The error depends on whether the mount namespace or Landlock hides the file. */
const hiddenAs = expect.stringMatching(/^(FileNotFound|Permission)Error$/);

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench.close());

test('a build can see neither secrets nor the platform, and runs cannot change the finished environment', async () => {
  const platform = join(bench.folder, 'platform');
  const secret = join(platform, 'secret');
  await mkdir(platform);
  await writeFile(secret, 'secret', { mode: 0o644 });
  const index = await startPackageIndex([sourcePackage('curious', '1.0', looksAround(secret))]);
  const given = await givenEnvironments({
    folder: join(platform, 'environments'),
    variables: { PATH: '/usr/bin:/bin', PIP_INDEX_URL: index.url, ORCH_KEY: 'x', MY_SECRET: 'y' },
    runBuild: sandboxedBuilds({
      sandbox: bench.sandbox,
      python: bench.python,
      hidden: [platform],
      leaseMs: 60_000,
    }),
  });
  const made = readyOf(
    await given.ensure({ requirements: 'curious', pythonPath: bench.python.executable }),
  );
  const packages = join(made.environmentDir, 'lib', await libraryIn(made.environmentDir));
  const planted = join(packages, 'site-packages', 'curious.json');
  expect(JSON.parse(await readFile(planted, 'utf8'))).toEqual({
    secret: hiddenAs,
    system: expect.stringMatching(/OSError|PermissionError/),
    variables: [],
    filtered: true,
    rights: ['0000000000000000'],
    user: false,
  });

  const { stdout } = await bench.run('looks.py', [join(packages, 'site-packages'), secret], {
    argv: [made.pythonPath, 'main.py', join(packages, 'site-packages'), secret],
    hidden: [platform],
    readOnly: [...bench.python.prefixes, made.environmentDir],
  });
  const seen = JSON.parse(stdout) as Record<string, [string, boolean]>;
  expect(seen[join(packages, 'site-packages')]).toEqual([
    expect.stringContaining('curious.json'),
    false,
  ]);
  expect(seen[secret]).toEqual([hiddenAs, false]);
  await given.close();
  await index.close();
});

async function libraryIn(environment: string): Promise<string> {
  const text = await readFile(join(environment, 'pyvenv.cfg'), 'utf8');
  const [, minor = ''] = /^version = (3\.\d+)/m.exec(text) ?? [];
  return `python${minor}`;
}
