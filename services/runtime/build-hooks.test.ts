/** Tests that code that a package executes during its build stays inside the sandbox, with each installer. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sourcePackage, startPackageIndex } from '../../scripts/testing/package-index.ts';
import type { BuildRunner } from './environments/build-runner.ts';
import { ChildProcessRunner } from './environments/testing/child-process-runner.ts';
import { givenEnvironments, readyOf } from './environments/testing/fixture.ts';
import { describeInstallers } from './environments/testing/installers.ts';
import { Bench } from './sandbox/testing/bench.ts';
import { sandboxedBuilds } from './sandboxed-builds.ts';

const project = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n';

/** Returns the source of a build backend that writes a marker file from each of its hooks. The wheel that it builds
 *  writes a marker file whenever an interpreter starts. */
const backend = (name: string, marks: string) => `import os, zipfile

def mark(hook):
    try:
        open(os.path.join(${JSON.stringify(marks)}, hook), "w").close()
    except OSError:
        pass

mark("import")
INFORMATION = "${name}-1.0.dist-info"
METADATA = "Metadata-Version: 2.1\\nName: ${name}\\nVersion: 1.0\\n"
WHEEL = "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"

def get_requires_for_build_wheel(*_, **__):
    mark("get_requires_for_build_wheel")
    return []

def get_requires_for_build_editable(*_, **__):
    mark("get_requires_for_build_editable")
    return []

def prepare_metadata_for_build_wheel(folder, *_, **__):
    mark("prepare_metadata_for_build_wheel")
    os.mkdir(os.path.join(folder, INFORMATION))
    for file, text in (("METADATA", METADATA), ("WHEEL", WHEEL)):
        with open(os.path.join(folder, INFORMATION, file), "w") as out:
            out.write(text)
    return INFORMATION

prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel

def build(hook, folder):
    mark(hook)
    file = "${name}-1.0-py3-none-any.whl"
    path = os.path.join(${JSON.stringify(marks)}, "path file of ${name}")
    with zipfile.ZipFile(os.path.join(folder, file), "w") as wheel:
        wheel.writestr("${name}.pth", f"import os; os.path.isdir(os.path.dirname({path!r})) and open({path!r}, 'w').close()\\n")
        wheel.writestr(INFORMATION + "/METADATA", METADATA)
        wheel.writestr(INFORMATION + "/WHEEL", WHEEL)
        wheel.writestr(INFORMATION + "/RECORD", "")
    return file

def build_wheel(folder, *_, **__):
    return build("build_wheel", folder)

def build_editable(folder, *_, **__):
    return build("build_editable", folder)
`;

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench.close());

await describeInstallers('build hooks run by', (installer, path) => {
  /** Returns the names of the hooks whose marker files appeared on the host. */
  async function hooksThatEscape(name: string, runBuild: BuildRunner): Promise<readonly string[]> {
    const place = join(bench.folder, name);
    const [marks, folder] = [join(place, 'marks'), join(place, 'project')];
    for (const path of [marks, folder]) await mkdir(path, { recursive: true });
    await writeFile(join(folder, 'pyproject.toml'), project);
    await writeFile(join(folder, 'backend.py'), backend('own', marks));
    const index = await startPackageIndex([
      sourcePackage('hooked', '1.0', backend('hooked', marks)),
    ]);
    const given = await givenEnvironments({
      folder: join(place, 'environments'),
      variables: { PATH: path, PIP_INDEX_URL: index.url },
      runBuild,
    });
    const request = {
      requirements: '-e .\nhooked\n',
      project: { folder, version: '1' },
      pythonPath: bench.python.executable,
    };
    readyOf(await given.ensure(request));
    expect(given.lines[0]).toContain(installer);
    await given.close();
    await index.close();
    return (await readdir(marks)).toSorted();
  }

  test('leave traces on the host only without the sandbox', async () => {
    const outside = await hooksThatEscape(`${installer}-outside`, new ChildProcessRunner());
    // uv also starts the environment's interpreter to compile the installed packages.
    const real = ['build_editable', 'build_wheel', 'import'];
    if (installer === 'uv') real.push('path file of hooked');
    expect(outside).toEqual(expect.arrayContaining(real));
    const { sandbox, python } = bench;
    const builds = sandboxedBuilds({ sandbox, python, hidden: [], leaseMs: 60_000 });
    expect(await hooksThatEscape(`${installer}-inside`, builds)).toEqual([]);
  });
});
