/** Simulates another runtime on the same host. Builds one environment, and prints the outcome as JSON. Arguments:
 *  folder, index URL, interpreter, requirements. */
import { openEnvironments } from '../environments.ts';
import { ChildProcessRunner } from './child-process-runner.ts';

const [folder = '', indexUrl = '', pythonPath = '', requirements = ''] = process.argv.slice(2);

const environments = await openEnvironments({
  folder,
  runBuild: new ChildProcessRunner(),
  variables: { PATH: '/usr/bin:/bin', PIP_INDEX_URL: indexUrl },
  onProblem: (error) => process.stderr.write(`${String(error)}\n`),
});
const result = await environments.ensure({
  scriptId: 'another',
  requirements,
  pythonPath,
  onLog: (line) => void process.stderr.write(`${line}\n`),
  signal: new AbortController().signal,
});
process.stdout.write(JSON.stringify(result));
