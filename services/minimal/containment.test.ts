import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { namespaces } from '../runtime/sandbox/testing/machine.ts';
import { Product } from './testing/product.ts';

const SOCKET = 'postgres/run/.s.PGSQL.5432';

/** Looks for parts of the platform that a script must not see: the paths that replace `FOUND`, secret variables, and
 *  processes. */
const script = `
import json, os, socket

paths = FOUND

def reaches(path):
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        return True
    except OSError:
        return os.path.exists(path)

def variables(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b""

private = ("DATABASE", "KEY", "PASSWORD", "SECRET")
processes = [pid for pid in os.listdir("/proc") if pid.isdigit()]
print(json.dumps({
    "reached": [path for path in paths if reaches(path)],
    "variables": [name for name in os.environ if any(word in name for word in private)],
    "processes": [pid for pid in processes if b"ORCH_DATABASE_URL" in variables(pid)],
}))
`;

let product: Product;
beforeAll(async () => {
  product = await Product.start();
});
afterAll(async () => {
  await product.stop();
  await product.remove();
});

describeWith(namespaces, 'on a machine with namespaces', () => {
  test('a script cannot reach the database, secrets or the platform’s processes', async () => {
    const paths = [SOCKET, 'secrets', 'logs', 'objects', 'runtime/runs', 'runtime/data'].map(
      (name) => join(product.dataDir, name),
    );
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
    const source = script.replace('FOUND', JSON.stringify(paths));
    const scriptId = await product.script('looks around', { 'main.py': source });
    const { run_id: runId } = await product.run(scriptId);
    await product.untilFinished(runId);
    const output = (await product.log(runId)).find(({ stream }) => stream === 'stdout');
    const nothing = { reached: [], variables: [], processes: [] };
    expect(JSON.parse(output?.text ?? '{}')).toEqual(nothing);
  });
});

test.runIf(process.getuid?.() === 0)(
  'the runtime cannot load a kernel module as root',
  async () => {
    const runtime = await product.pidOf('runtime');
    const status = await readFile(`/proc/${runtime}/status`, 'utf8');
    const bounding = BigInt(`0x${/^CapBnd:\s+(\w+)$/m.exec(status)?.[1]}`);
    const [chown, sysModule] = [1n << 0n, 1n << 16n];
    expect([bounding & chown, bounding & sysModule]).toEqual([chown, 0n]);
  },
);
