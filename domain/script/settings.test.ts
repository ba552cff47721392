import { describe, expect, test } from 'vitest';
import { settingsProblem } from './settings.ts';

describe('the settings of a script', () => {
  test.each([[[]], [[0]], [[1024, 65_535]], [Array.from({ length: 16 }, (_, one) => 2000 + one)]])(
    'may have the listen ports %j',
    (listenPorts) => {
      expect(settingsProblem({ listenPorts })).toBeUndefined();
    },
  );

  test.each([
    [[80], 'Invalid listen ports: 80 is not allowed; use 0, or 1024 to 65535.'],
    [[-1], '-1 is not allowed'],
    [[65_536], '65536 is not allowed'],
    [[8000.5], '8000.5 is not allowed'],
    [[8000, 8000], 'a port is listed twice'],
    [Array.from({ length: 17 }, (_, one) => 2000 + one), 'at most 16 ports are allowed'],
  ])('may not have the listen ports %j', (listenPorts, problem) => {
    expect(settingsProblem({ listenPorts })).toContain(problem);
  });

  test.each([[[]], [['gpu']], [['zone-b', 'Linux_6.1']], [['a'.repeat(63)]]])(
    'may have the labels %j',
    (runsOn) => {
      expect(settingsProblem({ runsOn })).toBeUndefined();
    },
  );

  test.each([
    [['g pu'], 'Invalid runtime labels: "g pu" is not a label; use up to 63 letters'],
    [[''], '"" is not a label'],
    [['-gpu'], '"-gpu" is not a label'],
    [['gpu,zone'], '"gpu,zone" is not a label'],
    [['a'.repeat(64)], 'is not a label'],
    [['gpu', 'gpu'], 'a label is listed twice'],
    [Array.from({ length: 17 }, (_, one) => `label-${one}`), 'at most 16 labels are allowed'],
  ])('may not have the labels %j', (runsOn, problem) => {
    expect(settingsProblem({ runsOn })).toContain(problem);
  });

  test.each([
    [{ kind: 'finish_by', cron: '0 7 * * 1-5', timezone: 'Europe/Berlin' }],
    [{ kind: 'success_within', seconds: 60 }],
    [{ kind: 'longer_than', factor: 1.5 }],
  ] as const)('may have the expectation %j', (expectation) => {
    expect(settingsProblem({ expectations: [expectation] })).toBeUndefined();
  });

  const soon = { kind: 'success_within', seconds: 60 } as const;
  test.each([
    [[{ kind: 'finish_by', cron: '0 7 * *', timezone: 'UTC' }], 'Invalid expectations: '],
    [[{ kind: 'finish_by', cron: '0 7 * * *', timezone: 'Berlin' }], 'Unknown time zone "Berlin"'],
    [[{ kind: 'success_within', seconds: 59 }], '"seconds" must be 60 to 31536000'],
    [[{ kind: 'longer_than', factor: 0.5 }], '"factor" must be 1 to 1000'],
    [[soon, soon], 'an expectation is listed twice'],
    [Array.from({ length: 9 }, (_, one) => ({ ...soon, seconds: 60 + one })), 'more than 8'],
  ] as const)('may not have the expectations %j', (expectations, problem) => {
    expect(settingsProblem({ expectations })).toContain(problem);
  });

  test.each(['-c', '-', '-m', '--help', '-cimport os', '-/main.py', '', '../main.py', 'a\nb'])(
    'may not have the entry point %j',
    (entrypoint) => {
      expect(settingsProblem({ entrypoint })).toMatch(/^Invalid entry point: /);
    },
  );

  test.each(['nb.ipynb', 'lib/-c', 'folder', 'main.py.txt', 'main.PY', 'py'])(
    'may not have the entry point %j, which is not a Python file',
    (entrypoint) => {
      expect(settingsProblem({ entrypoint })).toContain('must be a Python file');
    },
  );

  test.each(['main.py', 'lib/-c.py', 'a-b.py', 'app.pyz'])(
    'may have the entry point %j',
    (entrypoint) => {
      expect(settingsProblem({ entrypoint })).toBeUndefined();
    },
  );
});
