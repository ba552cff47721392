import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ConfigError,
  readConfig,
  settingStates,
  unknownVariables,
  type SettingName,
} from './config.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orch-config-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const aKey = '32 bytes in base64 or hex, made by chance, as `openssl rand -hex 32` does';

function problemsOf(names: readonly SettingName[], environment: Record<string, string>): string[] {
  try {
    readConfig(names, environment);
    return [];
  } catch (error) {
    return [...(error as ConfigError).problems];
  }
}

describe('given no variables', () => {
  test('when settings are read, then defaults answer, and the result cannot be changed', () => {
    const config = readConfig(['httpPort', 'bind', 'dataDir', 'objectsDir', 'adminPassword'], {});
    expect(config).toEqual({
      httpPort: 8080,
      bind: '127.0.0.1',
      dataDir: join(process.cwd(), '.orchestrator'),
      objectsDir: join(process.cwd(), '.orchestrator/objects'),
      adminPassword: undefined,
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('examples are made in the minimal edition, not in the production edition', () => {
    expect(readConfig(['examples'], {})).toEqual({ examples: false });
    expect(readConfig(['examples'], { ORCH_EDITION: 'minimal' })).toEqual({ examples: true });
    const asked = { ORCH_EDITION: 'production', ORCH_EXAMPLES: 'true' };
    expect(readConfig(['examples'], asked)).toEqual({ examples: true });
  });

  test('when required ones are read, then each is named', () => {
    expect(problemsOf(['databaseUrl', 'tokenKey'], {})).toEqual([
      'ORCH_DATABASE_URL is missing: expected an address like postgres://user:password@host:5432/database',
      `ORCH_TOKEN_KEY is missing: expected ${aKey}`,
    ]);
  });
});

describe('given variables', () => {
  test('when they are good, then they are parsed', () => {
    const hex = randomBytes(32).toString('hex');
    const config = readConfig(
      ['httpPort', 'logRuns', 'dataDir', 'workDir', 'secretMasterKey', 'tokenKey'],
      {
        ORCH_HTTP_PORT: '8081',
        ORCH_LOG_RUNS: 'true',
        ORCH_DATA_DIR: '/srv/orch',
        SECRET_MASTER_KEY: hex,
        ORCH_TOKEN_KEY: Buffer.from(hex, 'hex').toString('base64'),
      },
    );
    expect(config).toMatchObject({
      httpPort: 8081,
      logRuns: true,
      dataDir: '/srv/orch',
      workDir: '/srv/orch/runtime',
    });
    expect(config.secretMasterKey.toString('hex')).toBe(hex);
    expect(config.tokenKey.equals(config.secretMasterKey)).toBe(true);
  });

  test('when several are bad, then all are listed, and no secret is shown', () => {
    const problems = problemsOf(['httpPort', 'secretMasterKey', 'logRuns', 'edition'], {
      ORCH_HTTP_PORT: '80800',
      SECRET_MASTER_KEY: 'hunter2',
      ORCH_LOG_RUNS: 'maybe',
      ORCH_LOG_LEVEL: 'loud',
    });
    expect(problems).toEqual([
      'ORCH_HTTP_PORT is "80800": expected a whole number from 1 to 65535',
      `SECRET_MASTER_KEY is a value that is not shown here: expected ${aKey}`,
      'ORCH_LOG_RUNS is "maybe": expected true or false',
      'ORCH_LOG_LEVEL is "loud": expected one of trace, debug, info, warn, error, fatal',
    ]);
  });

  test.each([
    ['SECRET_MASTER_KEY', 'secretMasterKey', '00'.repeat(32)],
    ['SECRET_MASTER_KEY', 'secretMasterKey', Buffer.alloc(32, 'changeme').toString('base64')],
    ['SECRET_MASTER_KEY', 'secretMasterKey', randomBytes(16).toString('hex')],
    ['SECRET_MASTER_KEY', 'secretMasterKey', randomBytes(33).toString('base64')],
    ['ORCH_ADMIN_PASSWORD', 'adminPassword', 'Password1!'],
    ['ORCH_ADMIN_PASSWORD', 'adminPassword', 'change-me'],
    ['ORCH_REDIS_PASSWORD', 'redisPassword', 'orchestrator'],
  ] as const)(
    'when %s is of no use as a secret, then it is refused (%#)',
    (name, setting, value) => {
      expect(problemsOf([setting], { [name]: value })).toEqual([
        expect.stringContaining(`${name} is a value that is not shown here: expected`),
      ]);
    },
  );

  test('when one is empty, then its default answers', () => {
    expect(readConfig(['httpPort'], { ORCH_HTTP_PORT: '' })).toEqual({ httpPort: 8080 });
  });
});

describe('given a variable that names a file', () => {
  test('when the file can be read, then its text is the value, without the last newline', () => {
    const file = join(folder, 'password');
    writeFileSync(file, 'a long password\n');
    const config = readConfig(['adminPassword'], { ORCH_ADMIN_PASSWORD_FILE: file });
    expect(config.adminPassword).toBe('a long password');
  });

  test('when it cannot, or the variable is set as well, then that is the error', () => {
    const missing = join(folder, 'missing');
    expect(problemsOf(['tokenKey'], { ORCH_TOKEN_KEY_FILE: missing })).toEqual([
      `ORCH_TOKEN_KEY_FILE is "${missing}": expected a file that can be read (ENOENT)`,
    ]);
    expect(
      problemsOf(['adminPassword'], { ORCH_ADMIN_PASSWORD: 'x', ORCH_ADMIN_PASSWORD_FILE: 'y' }),
    ).toEqual(['ORCH_ADMIN_PASSWORD and ORCH_ADMIN_PASSWORD_FILE are both set: expected one']);
  });
});

describe('given variables that no process knows', () => {
  test('when they are looked for, then the nearest known one is named', () => {
    const environment = {
      ORCH_HTP_PORT: '1',
      ORCH_DATA_DIR_FLIE: 'x',
      ORCH_HTTP_PORT: '2',
      ORCH_TOKEN_KEY_FILE: 'y',
      HOME: '/',
    };
    expect(unknownVariables(environment)).toEqual([
      'ORCH_DATA_DIR_FLIE is not known; did you mean ORCH_DATA_DIR_FILE?',
      'ORCH_HTP_PORT is not known; did you mean ORCH_HTTP_PORT?',
    ]);
  });
});

describe('given settings of every kind', () => {
  const secretText = 'a quite secret password';
  const file = () => join(folder, 'level');
  const stateOf = (name: string, given: readonly SettingName[] = ['redisPassword']) => {
    writeFileSync(file(), 'debug\n');
    const environment = {
      ORCH_HTTP_PORT: '9000',
      ORCH_LOG_LEVEL_FILE: file(),
      ORCH_REDIS_PASSWORD: secretText,
      ORCH_TRUSTED_PROXIES: '10.0.0.0/8,192.168.1.7/32',
    };
    const states = settingStates(given, environment);
    expect(JSON.stringify(states)).not.toContain(secretText);
    const state = states.find((one) => one.name === name);
    return [state?.value, state?.source, state?.secret];
  };

  test.each([
    ['ORCH_HTTP_PORT', '9000', 'environment', false],
    ['ORCH_MCP_PORT', '8010', 'default', false],
    ['ORCH_LOG_LEVEL', 'debug', 'file', false],
    ['ORCH_TRUSTED_PROXIES', '10.0.0.0/8,192.168.1.7/32', 'environment', false],
    ['ORCH_ALLOW_PRIVATE_TARGETS', null, 'default', false],
    ['ORCH_REDIS_PASSWORD', null, 'environment', true],
  ])('when they are listed, then %s is %s from the %s', (name, value, source, isSecret) => {
    expect(stateOf(name)).toEqual([value, source, isSecret]);
  });

  test('when a secret is not given to the process, then it says nothing of it', () => {
    expect(stateOf('ORCH_REDIS_PASSWORD', [])).toEqual([null, 'unknown', true]);
  });
});
