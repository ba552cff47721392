/** A runtime that tests can kill. It starts an escaping run, prints the launcher's process ID, and waits. Arguments:
 *  folder, disabled layers (separated by commas), interpreter, mark on the command line. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startLocalSandbox } from '../local-sandbox.ts';
import { findPython } from '../python.ts';

const [folder = '', without = '', configured, mark = ''] = process.argv.slice(2);
const python = await findPython({ configured, path: '' });
const sandbox = await startLocalSandbox({
  python: python.executable,
  runsFolder: join(folder, 'runs'),
  without: without.split(',').filter((name) => name !== ''),
  onLog: (line) => process.stderr.write(`${line}\n`),
});
const run = await sandbox.prepare(
  {
    runId: 'run-1',
    scriptId: 'script-1',
    user: 'script-1',
    argv: [python.executable, 'main.py', mark, 'stay'],
    env: { PYTHONUNBUFFERED: '1' },
    workspaceEnv: [],
    files: [
      {
        path: 'main.py',
        source: fileURLToPath(new URL('../fixtures/escape.py', import.meta.url)),
        mode: 0o644,
      },
    ],
    dataFolder: null,
    readOnly: python.prefixes,
    readWrite: [],
    hidden: [],
    listenPorts: [],
    limits: {
      cpuSeconds: null,
      memoryBytes: null,
      addressSpaceBytes: null,
      openFiles: null,
      processes: null,
      wallClockSeconds: null,
      diskBytes: null,
    },
    leaseMs: 60_000,
    stopGraceMs: 10_000,
  },
  {
    output: (_stream, chunk) => {
      if (chunk.includes('held')) process.stdout.write(`${sandbox.launcherPid}\n`);
    },
    sample: () => undefined,
  },
);
run.go();
