/** Checks the systemd units with systemd's own tools, and compares them with the program's settings and compose.yaml.
 *  systemd need not be running. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { findProgram } from '#infra/testing/find-program.ts';
import { invalid } from '#services/shared/setting.ts';
import { settings } from '#services/shared/settings.ts';
import { describeWith } from '../../scripts/testing/optional-service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const units = join(root, 'infra/deploy/systemd');
const services = readdirSync(units).filter((name) => name.endsWith('.service'));
const read = (name: string) => readFileSync(join(units, name), 'utf8');
/** Returns the values of a directive, in order. */
const valuesOf = (unit: string, directive: string) =>
  unit
    .split('\n')
    .flatMap((line) =>
      line.startsWith(`${directive}=`) ? [line.slice(directive.length + 1)] : [],
    );

const analyze = {
  service: 'systemd-analyze',
  found: findProgram('systemd-analyze', []),
  reason: 'no systemd-analyze on this machine (Debian: apt-get install systemd)',
};

/** Returns the environment variables of a unit, with a value for each specifier. */
function environmentOf(unit: string): readonly (readonly [string, string])[] {
  return valuesOf(unit, 'Environment')
    .flatMap((line) => line.split(' '))
    .map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [name, value.join('=').replaceAll('%i', '8080').replaceAll('%H', 'host')] as const;
    });
}

function settingProblems(unit: string): readonly string[] {
  const known = Object.values(settings);
  const credentials = valuesOf(unit, 'LoadCredential');
  return environmentOf(unit).flatMap(([name, value]) => {
    if (name === 'NODE_ENV') return [];
    const setting = known.find(({ variable }) => variable === name.replace(/_FILE$/, ''));
    if (setting === undefined) return [`${name} is not known`];
    if (name.endsWith('_FILE')) {
      const credential = /^%d\/(\w+)$/.exec(value)?.[1] ?? value;
      const source = `${credential}:/etc/orchestrator/secrets/${credential}`;
      return credentials.includes(source) ? [] : [`${name} has no credential`];
    }
    if (setting.secret) return [`${name} is open`];
    return setting.parse(value) === invalid ? [`${name}: ${value} is not valid`] : [];
  });
}

describe('the systemd units', () => {
  test.each(services)('set only known settings, and read secrets from credentials: %s', (name) => {
    expect(settingProblems(read(name))).toEqual([]);
  });

  test('use a production.env file that sets only known settings', () => {
    const lines = read('production.env')
      .split('\n')
      .filter((line) => /^\w/.test(line));
    expect(settingProblems(lines.map((line) => `Environment=${line}`).join('\n'))).toEqual([]);
    expect(lines.length).toBeGreaterThan(5);
  });

  test('give each process the same secrets as compose.yaml', () => {
    const compose = parse(readFileSync(join(root, 'compose.yaml'), 'utf8'), { merge: true }) as {
      readonly services: Readonly<Record<string, { readonly environment?: object }>>;
    };
    // The MQTT broker is optional, and setup does not use the bus.
    const optional = ['ORCH_MQTT_URL_FILE'];
    const files = (names: readonly string[]) =>
      names.filter((name) => name.endsWith('_FILE') && !optional.includes(name)).toSorted();
    for (const name of ['backend@', 'scheduler@', 'runtime@', 'redis', 'mcp']) {
      const own = environmentOf(read(`orchestrator-${name}.service`)).map(([variable]) => variable);
      const composed = compose.services[name.replace('@', '')]?.environment ?? {};
      expect([name, files(own)]).toEqual([name, files(Object.keys(composed))]);
    }
  });

  test.each(['orchestrator-minimal.service', 'orchestrator-runtime@.service'])(
    'permit everything that the sandbox needs: %s',
    (name) => {
      const unit = read(name);
      expect(valuesOf(unit, 'Delegate')).toEqual(['yes']);
      expect(valuesOf(unit, 'OOMPolicy')).toEqual(['continue']);
      expect(valuesOf(unit, 'KillMode')).toEqual(['mixed']);
      expect(unit).not.toMatch(
        /^(RestrictNamespaces|PrivateUsers|ProtectControlGroups|ProtectKernelTunables|ProtectKernelLogs|ProtectProc|ProcSubset|MemoryDenyWriteExecute)=/m,
      );
    },
  );

  test.each([
    ['ORCH_TYPO=1', 'ORCH_TYPO is not known'],
    ['ORCH_HTTP_PORT=x', 'ORCH_HTTP_PORT: x is not valid'],
    ['ORCH_NATS_URL=nats://a', 'ORCH_NATS_URL is open'],
    ['ORCH_TOKEN_KEY_FILE=%d/token_key', 'ORCH_TOKEN_KEY_FILE has no credential'],
  ])('fail these checks with %s', (line, problem) => {
    expect(settingProblems(`Environment=${line}`)).toEqual([problem]);
  });
});

describeWith(analyze, 'systemd-analyze', () => {
  let folder: string;
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(analyze.found ?? '', args, {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:`, SYSTEMD_LOG_LEVEL: 'warning' },
    });
    return { status, stdout, stderr };
  };
  const exposure = (name: string) => {
    const { stdout } = run('security', '--offline=true', '--no-pager', `./${name}`);
    return Number(/Overall exposure level for .*: (\d+\.\d)/.exec(stdout)?.[1]);
  };
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'orch-units-'));
    for (const name of readdirSync(units)) {
      // systemd-analyze requires that the unit's programs exist.
      const text = read(name)
        .replaceAll('/opt/orchestrator/node/node_modules/node/bin/node', process.execPath)
        .replaceAll('/opt/orchestrator/current', root.replace(/\/$/, ''));
      writeFileSync(join(folder, name), text);
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('accepts every unit', () => {
    const names = [...services.map((name) => name.replace('@.', '@8080.')), 'orchestrator.target'];
    const { status, stderr } = run('verify', '--man=no', '--recursive-errors=no', ...names);
    expect(stderr).not.toContain('orchestrator');
    expect(status).toBe(0);
    writeFileSync(
      join(folder, 'orchestrator-bad.service'),
      '[Service]\nExecStart=/nowhere\nPrivatTmp=yes\n',
    );
    expect(run('verify', '--man=no', 'orchestrator-bad.service').stderr).toMatch(
      /PrivatTmp[^]*\/nowhere/,
    );
  });

  // systemd 252 reports 1.4 and 3.7; other versions use different weights.
  test.each(services)('rates %s as confined', (name) => {
    const runsScripts = /minimal|runtime/.test(name);
    expect(exposure(name)).toBeLessThan(runsScripts ? 4 : 2);
  });

  test('rates a unit without restrictions as exposed', () => {
    const open = read('orchestrator-mcp.service').replaceAll(
      /^(Capability|NoNew|Protect|Private|Restrict|SystemCall).*\n/gm,
      '',
    );
    writeFileSync(join(folder, 'orchestrator-open.service'), open);
    expect(exposure('orchestrator-open.service')).toBeGreaterThan(7);
  });
});
