/** Generates API clients from the API description, and runs a test program with each client. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { OptionalService } from '../../../../scripts/testing/optional-service.ts';

const run = promisify(execFile);
const programs = fileURLToPath(new URL('.', import.meta.url));
const bin = resolve('.toolchain/api-clients/bin');
const python = join(bin, 'python');
const linters = resolve('.toolchain/api-linters/node_modules/.bin');
const install = '.ci/install-api-tools';

/** The generators that `.ci/run` installs. */
export const generators: OptionalService = {
  service: 'client generators',
  found: existsSync(join(bin, 'openapi-generator-cli')) ? bin : undefined,
  reason: `run ${install} (needs Java 11 and Go)`,
};

/** The linters that `.ci/run` installs. */
export const apiLinters: OptionalService = {
  service: 'spectral and redocly',
  found: existsSync(join(linters, 'spectral')) ? linters : undefined,
  reason: `run ${install}`,
};

/** Names of the generated clients. */
export const clientNames = [
  'openapi-python-client',
  'openapi-generator python',
  'openapi-generator go',
  'openapi-generator typescript-fetch',
  'openapi-typescript',
] as const;
export type ClientName = (typeof clientNames)[number];

type Command = readonly [program: string, args: readonly string[], env?: Record<string, string>];

/** Runs a program.
 *  @returns its output
 *  @throws with its output if it fails */
async function output([program, args, env = {}]: Command, cwd: string): Promise<string> {
  const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
  return (await run(program, args, options)).stdout;
}

const fromJava = {
  python: 'packageName: orchestrator_client',
  go: 'packageName: client',
  'typescript-fetch': 'supportsES6: true',
};

/** Java optimizes code and collects garbage in parallel. Neither pays off in a run of a few seconds. */
const shortJava = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmn128m';

/** Generates all `openapi-generator` clients in one process.
 *  @param folder contains the API description as `openapi.json` */
export async function generateByJava(folder: string): Promise<void> {
  const configs = Object.entries(fromJava).map(async ([generator, option]) => {
    const lines = [
      `generatorName: ${generator}`,
      'inputSpec: openapi.json',
      `outputDir: ${generator}/client`,
      `additionalProperties: { ${option} }`,
    ];
    await writeFile(join(folder, `${generator}.yaml`), `${lines.join('\n')}\n`);
    return `${generator}.yaml`;
  });
  const args = ['batch', '--threads', '3', ...(await Promise.all(configs))];
  const env = { JAVA_TOOL_OPTIONS: shortJava };
  await output([join(bin, 'openapi-generator-cli'), args, env], folder);
}

const typesGenerator = resolve('web/node_modules/.bin/openapi-typescript');
const compiler = resolve('node_modules/.bin/tsc');
const compile = [
  '--strict',
  '--skipLibCheck',
  '--target',
  'es2022',
  '--types',
  '',
  '--outDir',
  'js',
];
compile.push('--module', 'commonjs', '--moduleResolution', 'bundler');
compile.push('--lib', 'es2022,dom,dom.iterable', 'main.ts');

/** Builds a generated client, and runs a script through it.
 *  @returns the run's status and output */
export async function runScriptWith(
  name: ClientName,
  folder: string,
  [origin, token]: readonly [origin: string, token: string],
): Promise<string> {
  const own = join(folder, name.replace('openapi-generator ', ''));
  await mkdir(own, { recursive: true });
  switch (name) {
    case 'openapi-python-client': {
      const args = ['generate', '--path', '../openapi.json', '--output-path', 'generated'];
      args.push('--meta', 'none');
      const PATH = `${bin}:${process.env['PATH']}`;
      await output([join(bin, 'openapi-python-client'), args, { PATH }], own);
      const program = join(programs, 'openapi_python_client.py');
      return await output([python, [program, origin, token], { PYTHONPATH: own }], own);
    }
    case 'openapi-generator python': {
      const program = join(programs, 'openapi_generator.py');
      const PYTHONPATH = join(own, 'client');
      return await output([python, [program, origin, token], { PYTHONPATH }], own);
    }
    case 'openapi-generator go': {
      await writeFile(join(own, 'go.mod'), 'module orchestrator\n\ngo 1.23\n');
      await writeFile(join(own, 'client/go.mod'), 'module orchestrator/client\n\ngo 1.23\n');
      await writeFile(join(own, 'go.work'), 'go 1.23\n\nuse (\n\t.\n\t./client\n)\n');
      await cp(join(programs, 'openapi-generator.go.txt'), join(own, 'main.go'));
      const env = { CGO_ENABLED: '0', GOFLAGS: '-trimpath' };
      await output(['go', ['build', '-o', 'main', '.'], env], own);
      return await output([join(own, 'main'), [origin, token]], own);
    }
    case 'openapi-generator typescript-fetch':
      return await runTypeScript('typescript-fetch', own, [origin, token]);
    case 'openapi-typescript': {
      await symlink(resolve('node_modules'), join(own, 'node_modules'));
      // Without this option, requests would have to contain every field that has a default.
      const args = ['../openapi.json', '--default-non-nullable=false', '-o', 'schema.ts'];
      await output([typesGenerator, args], own);
      return await runTypeScript(name, own, [origin, token]);
    }
  }
}

async function runTypeScript(name: string, own: string, args: readonly string[]): Promise<string> {
  await cp(join(programs, `${name}.ts.txt`), join(own, 'main.ts'));
  await output([compiler, compile], own);
  return await output([process.execPath, ['js/main.js', ...args]], own);
}

/** Returns the findings of the linters with their recommended rules. The result is empty if there are none. */
export async function lint(description: string, folder: string): Promise<readonly string[]> {
  const ruleset = join(folder, 'spectral.yaml');
  await writeFile(ruleset, 'extends: ["spectral:oas"]\n');
  const spectral = ['lint', description, '--ruleset', ruleset, '--format', 'text'];
  const redocly = ['lint', description, '--extends', 'recommended', '--format', 'stylish'];
  const commands: Command[] = [
    [join(linters, 'spectral'), [...spectral, '--fail-severity', 'hint']],
    [join(linters, 'redocly'), [...redocly, '--max-problems', '20'], { REDOCLY_TELEMETRY: 'off' }],
  ];
  return await Promise.all(commands.map((command) => output(command, folder)));
}
