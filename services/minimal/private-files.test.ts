/** Tests that other users of the machine cannot read a script's files. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { user0 } from '../runtime/sandbox/testing/machine.ts';
import { Product } from './testing/product.ts';

const UNPRIVILEGED = 65_534;
/** A marker in each source file. */
const MARK = 'only the owner may read this';
const files = {
  'main.py': 'import own\nprint(len(own.text))\n',
  'requirements.txt': './own\n',
  'own/pyproject.toml': `[project]
name = "own"
version = "1.0"
[build-system]
requires = []
build-backend = "build"
backend-path = ["."]
`,
  'own/build.py': `import os, zipfile
def build_wheel(folder, *args, **kwargs):
    name = "own-1.0-py3-none-any.whl"
    information = "own-1.0.dist-info/"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        wheel.writestr("own.py", "text = '${MARK}'")
        wheel.writestr(information + "METADATA", "Metadata-Version: 2.1\\nName: own\\nVersion: 1.0\\n")
        wheel.writestr(information + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(information + "RECORD", "")
    return name
`,
};

describeWith(user0, 'a script with its own package', () => {
  let product: Product;
  beforeAll(async () => {
    product = await Product.start();
  }, 120_000);
  afterAll(async () => {
    await product.stop();
    await product.remove();
  });

  test('hides its files from other users on the machine', { timeout: 180_000 }, async () => {
    const id = await product.script('Own', files);
    for (const mode of ['cold', 'warm', 'warm']) {
      await product.call('PATCH', `/scripts/${id}`, { start_mode: mode });
      const { run_id: runId } = await product.run(id);
      await product.untilFinished(runId);
      const output = (await product.log(runId)).filter(({ stream }) => stream === 'stdout');
      expect(output.map(({ text }) => text)).toEqual([String(MARK.length)]);
    }
    const search = promisify(execFile);
    const { stdout } = await search('grep', ['-rlsF', MARK, product.dataDir]);
    expect(stdout).toContain('own.py');
    // Tests each file by its path. A user who knows a path may reach a file even if its folder cannot be listed.
    const paths = stdout.trim().split('\n');
    const asOther = search('grep', ['-lsF', MARK, ...paths], {
      uid: UNPRIVILEGED,
      gid: UNPRIVILEGED,
      cwd: '/',
    });
    await expect(asOther).rejects.toMatchObject({ stdout: '' });
  });
});
