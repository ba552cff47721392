// Runs every check, so that one failure does not hide another: node scripts/check.ts.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Check {
  readonly name: string;
  readonly command: readonly string[];
}

const CHECKS: readonly Check[] = [
  { name: 'format', command: ['oxfmt', '--check'] },
  { name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  { name: 'types', command: ['tsc', '-p', '.'] },
  {
    name: 'architecture',
    command: ['vitest', 'run', '--reporter=dot', 'scripts/architecture.test.ts'],
  },
  { name: 'unused code', command: ['knip'] },
  { name: 'wording', command: ['node', 'scripts/wording.ts'] },
  {
    name: 'spelling',
    command: [
      'cspell',
      '--config=scripts/spelling/cspell.json',
      '--no-progress',
      '--dot',
      '--cache',
      '--cache-location=node_modules/.cache/cspell',
      '.',
    ],
  },
];

const root = fileURLToPath(new URL('..', import.meta.url));

function checksOfWeb(): Check[] {
  const path = `${root}web/package.json`;
  if (!existsSync(path)) return [];
  const { scripts } = JSON.parse(readFileSync(path, 'utf8')) as {
    readonly scripts?: Record<string, string>;
  };
  if (scripts?.['check'] === undefined) return [];
  return [{ name: 'dashboard', command: ['npm', 'run', '--silent', '-w', 'web', 'check'] }];
}

// The output of each tool is printed unchanged.
function passes({ name, command: [program = '', ...args] }: Check): boolean {
  console.log(`── ${name}: ${[program, ...args].join(' ')}`);
  const path = `${root}node_modules/.bin:${process.env['PATH'] ?? ''}`;
  const { status, error } = spawnSync(program, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PATH: path },
  });
  if (error !== undefined) console.log(`${program} could not be started: ${error.message}`);
  return status === 0;
}

// The dashboard is checked first, because its check generates types that later checks need.
const results = [...checksOfWeb(), ...CHECKS].map((check) => ({
  name: check.name,
  passed: passes(check),
}));
console.log('──');
for (const { name, passed } of results) console.log(`${passed ? 'ok    ' : 'FAILED'} ${name}`);
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
