/** Tests that a wheel among a script's files cannot execute code outside the sandbox, with each installer. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  startPackageIndex,
  wheel,
  type PackageIndex,
} from '../../../scripts/testing/package-index.ts';
import { describeWith } from '../../../scripts/testing/optional-service.ts';
import { givenEnvironments, readyOf } from '../environments/testing/fixture.ts';
import { describeInstallers } from '../environments/testing/installers.ts';
import { pythonOf } from '../environments/virtual-environment.ts';
import { sandboxedBuilds } from '../sandboxed-builds.ts';
import { namespaces } from '../sandbox/testing/machine.ts';
import { WarmBench } from './testing/warm-bench.ts';

/** Returns a module that creates the file `mark`, if it can, and then behaves like the real module. */
const hostileEncodings = (mark: string) => `import posix, sys
try:
    posix.close(posix.open(${JSON.stringify(mark)}, posix.O_CREAT | posix.O_WRONLY))
except OSError:
    pass
sys.path.pop(0)
del sys.modules[__name__]
import encodings
`;

await describeInstallers('a wheel with a `._pth` file, installed by', (installer, path) => {
  describeWith(namespaces, 'in warm runs', () => {
    let bench: WarmBench;
    let index: PackageIndex;
    let mark: string;
    beforeAll(async () => {
      bench = await WarmBench.open();
      mark = join(bench.bench.folder, 'data', 'mark');
      const [library] = await readdir(join(bench.environment, 'lib'));
      const standard = join(bench.bench.python.prefixes[0] ?? '', 'lib', library ?? '');
      const own = `../lib/${library}/site-packages/hostile`;
      const paths = [own, standard, join(standard, 'lib-dynload'), ''];
      const hostile = wheel({
        name: 'hostile',
        version: '1.0',
        files: {
          'hostile/encodings/__init__.py': hostileEncodings(mark),
          'hostile-1.0.data/scripts/python._pth': paths.join('\n'),
        },
      });
      index = await startPackageIndex([hostile]);
    });
    afterAll(async () => {
      await bench.close();
      await index.close();
    });

    test('leaves no trace outside cold and warm runs', async () => {
      const { bench: sandbox } = bench;
      const given = await givenEnvironments({
        folder: join(sandbox.folder, 'environments'),
        variables: {
          PATH: path,
          PIP_INDEX_URL: index.url,
        },
        runBuild: sandboxedBuilds({
          sandbox: sandbox.sandbox,
          python: sandbox.python,
          hidden: [],
          leaseMs: 60_000,
        }),
      });
      const { environmentDir } = readyOf(
        await given.ensure({ requirements: 'hostile', pythonPath: sandbox.python.executable }),
      );
      expect(given.lines[0]).toContain(installer);
      expect(await readFile(join(environmentDir, 'bin', 'python._pth'), 'utf8')).toContain(
        'hostile',
      );
      const spec = await bench.warm(
        { 'main.py': "print('script')" },
        {
          argv: [pythonOf(environmentDir), 'main.py'],
          readOnly: [...sandbox.python.prefixes, environmentDir],
        },
      );
      await bench.kept(spec);
      expect(await bench.outcome(spec)).toMatchObject({ stdout: 'script\n' });
      await expect(readFile(mark)).rejects.toThrow(/ENOENT/);
      await given.close();
    });
  });
});
